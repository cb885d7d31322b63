# SPDX-License-Identifier: Apache-2.0

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
