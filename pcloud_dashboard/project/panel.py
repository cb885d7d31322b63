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
