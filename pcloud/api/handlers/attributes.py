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

"""``/os-pcloud-attributes``."""

from pcloud.api import call as api_call
from pcloud.api.views import attributes as views
from pcloud.objects import host_attributes


def index(call: api_call.Call) -> dict:
    """List the attributes that this API has set, with the hosts."""
    return {'attributes': [
        views.show(attribute)
        for attribute in host_attributes.index(call.context)]}


def update(call: api_call.Call) -> dict:
    """Set the value of an attribute for hosts, in place of former values."""
    return {'attribute': views.show(host_attributes.put(
        call.context, call.parameters['name'], call.body['value'],
        call.body['hosts']))}


def delete(call: api_call.Call) -> None:
    """Remove an attribute from the given hosts, or from all hosts."""
    hosts = call.query.get('host')
    host_attributes.remove(
        call.context, call.parameters['name'],
        [hosts] if isinstance(hosts, str) else hosts)
