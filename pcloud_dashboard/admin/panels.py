# SPDX-License-Identifier: Apache-2.0

"""The panels of administrators."""

from django.utils.translation import gettext_lazy as _

from pcloud_dashboard import panels
from pcloud_dashboard import policies


class HostFlavors(panels.PcloudPanel):
    """Admin > Compute > Host Flavors."""

    name = _('Host Flavors')
    slug = 'host_flavors'
    urls = 'pcloud_dashboard.admin.host_flavor_urls'
    policy_rules = (('pcloud', policies.CREATE_FLAVOR),)


class Pclouds(panels.PcloudPanel):
    """Admin > Compute > Pclouds."""

    name = _('Pclouds')
    slug = 'pclouds'
    urls = 'pcloud_dashboard.admin.pcloud_urls'
    policy_rules = (('pcloud', policies.ALL_PROJECTS),)
