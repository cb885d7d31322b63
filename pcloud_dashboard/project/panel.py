# SPDX-License-Identifier: Apache-2.0

"""The panel of owners and tenants."""

from django.utils.translation import gettext_lazy as _

# Horizon collects its REST calls when this module is imported.
from pcloud_dashboard.launch import rest  # noqa: F401
from pcloud_dashboard import panels
from pcloud_dashboard import policies


class Pclouds(panels.PcloudPanel):
    """Project > Compute > Pclouds; hidden in a cloud without Pclouds."""

    name = _('Pclouds')
    slug = 'pclouds'
    policy_rules = (('pcloud', policies.LIST),)
