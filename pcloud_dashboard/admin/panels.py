# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
