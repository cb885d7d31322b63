# SPDX-License-Identifier: Apache-2.0

"""What fits a Pcloud, what would be lost with a host, and better places.

A plan claims no resources, and does not change the cloud.
"""
