# SPDX-License-Identifier: Apache-2.0

"""A whole devstack with Pcloud, in a box on this machine.

    python -m pcloud.tests.devstack

Needs no package of Python, for Nova and Pcloud are in the box alone.
"""
