# SPDX-License-Identifier: Apache-2.0

"""Hosts that join a Pcloud for a launch: the default Pcloud in mode ``grow``.

Rule: reference-default-pcloud-grow
"""
