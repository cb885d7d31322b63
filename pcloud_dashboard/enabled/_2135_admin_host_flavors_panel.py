# SPDX-License-Identifier: Apache-2.0

"""Admin > Compute > Host Flavors."""

PANEL = 'host_flavors'
PANEL_DASHBOARD = 'admin'
PANEL_GROUP = 'compute'
ADD_PANEL = 'pcloud_dashboard.admin.panels.HostFlavors'
