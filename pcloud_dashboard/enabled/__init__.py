# SPDX-License-Identifier: Apache-2.0

"""What switches the panels on: files to copy to Horizon."""
