# SPDX-License-Identifier: Apache-2.0

"""What a project has held of hosts, month by month."""
