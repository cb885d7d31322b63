# SPDX-License-Identifier: Apache-2.0

"""The commands that show what fits, what may fail, and better places."""
