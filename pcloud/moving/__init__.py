# SPDX-License-Identifier: Apache-2.0

"""Servers that Nova moves to other hosts of their Pcloud.

Rule: reference-draining-moving, reference-rebalancing
"""
