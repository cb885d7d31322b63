# SPDX-License-Identifier: Apache-2.0

"""Tests that have to own their cloud: they stop its services, or name them.

On a cloud that ``OS_CLOUD`` names, these tests are skipped.
"""
