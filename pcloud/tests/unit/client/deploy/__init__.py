# SPDX-License-Identifier: Apache-2.0

"""Tests of the deployment engine, in front of a Nova of canned answers."""
