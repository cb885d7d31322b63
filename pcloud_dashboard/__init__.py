# SPDX-License-Identifier: Apache-2.0

"""Pclouds in Horizon, the dashboard of OpenStack.

The package talks to nova-api through ``pcloud.client`` alone. Files of the
folder ``enabled`` switch the panels on, once they are copied to Horizon.
"""
