# SPDX-License-Identifier: Apache-2.0

"""Admin > Compute > Pclouds."""

PANEL = 'pclouds'
PANEL_DASHBOARD = 'admin'
PANEL_GROUP = 'compute'
ADD_PANEL = 'pcloud_dashboard.admin.panels.Pclouds'
