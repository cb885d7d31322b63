# SPDX-License-Identifier: Apache-2.0

"""How an attribute of hosts is shown."""

from pcloud.objects import host_attributes


def show(attribute: host_attributes.Attribute) -> dict:
    """Return an attribute with real hosts, for administrators."""
    return {'name': attribute.name,
            'value': attribute.value,
            'hosts': list(attribute.hosts)}
