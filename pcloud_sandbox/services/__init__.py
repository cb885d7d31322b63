# SPDX-License-Identifier: Apache-2.0

"""The programs of a sandbox's processes, and modules for the programs."""
