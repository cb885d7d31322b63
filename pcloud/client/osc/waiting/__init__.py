# SPDX-License-Identifier: Apache-2.0

"""The commands about those who wait for hosts."""
