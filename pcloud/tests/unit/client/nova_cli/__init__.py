# SPDX-License-Identifier: Apache-2.0

"""Tests of the nova commands, through the shell of nova."""
