# SPDX-License-Identifier: Apache-2.0

"""``/os-pcloud-attributes``."""

from pcloud.api import call as api_call
from pcloud.api.schemas import shown
from pcloud.api.schemas import types
from pcloud.objects.placing import host_attributes

UPDATE_BODY = types.body(
    'attribute',
    {'value': types.trimmed,
     'hosts': {'type': 'array', 'items': types.compute_host, 'minItems': 1,
               'maxItems': 1000, 'uniqueItems': True}},
    required=['value', 'hosts'])

ATTRIBUTE = shown.members({
    'name': shown.TEXT, 'value': shown.TEXT,
    'hosts': shown.list_of(shown.TEXT)})

INDEX_QUERY = {
    'type': 'object',
    'properties': {'name': types.attribute_name, 'value': types.trimmed,
                   'host': types.compute_host},
    'additionalProperties': False,
}

DELETE_QUERY = {
    'type': 'object',
    'properties': {
        'host': {'anyOf': [types.compute_host, {
            'type': 'array', 'items': types.compute_host}],
            'description': types.compute_host['description']},
    },
    'additionalProperties': False,
}


def index(call: api_call.Call) -> dict:
    """List the attributes that this API has set, with the hosts.

    The query narrows the list: an attribute of this name, with this value,
    that this host has. Each is shown with all hosts that have it.

    Rule: reference-attributes-sources
    """
    wanted = call.query
    return {'attributes': [
        _view(attribute) for attribute in host_attributes.index(call.context)
        if wanted.get('name') in (None, attribute.name) and
        wanted.get('value') in (None, attribute.value) and
        wanted.get('host') in (None, *attribute.hosts)]}


def update(call: api_call.Call) -> dict:
    """Set the value of an attribute for hosts, in place of former values."""
    return {'attribute': _view(host_attributes.put(
        call.context, call.parameters['name'], call.body['value'],
        call.body['hosts']))}


def delete(call: api_call.Call) -> None:
    """Remove an attribute from the given hosts, or from all hosts."""
    hosts = call.query.get('host')
    host_attributes.remove(
        call.context, call.parameters['name'],
        [hosts] if isinstance(hosts, str) else hosts)


def _view(attribute: host_attributes.Attribute) -> dict:
    """Return an attribute with real hosts, for administrators."""
    return {'name': attribute.name,
            'value': attribute.value,
            'hosts': list(attribute.hosts)}
