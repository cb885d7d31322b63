# SPDX-License-Identifier: Apache-2.0

"""Tests of the client, through HTTP and through the real shells."""
