# SPDX-License-Identifier: Apache-2.0

"""Who uses how much: of a Pcloud, and of hosts in a month.

Rule: reference-usage
"""
