# SPDX-License-Identifier: Apache-2.0

"""What the scheduler would do with a server, and why.

An explanation claims no resources, and does not change the cloud.
"""
