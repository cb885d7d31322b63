# SPDX-License-Identifier: Apache-2.0

"""The members of services that the commands show, formatted for people."""

from collections.abc import Sequence

from pcloud.client.deploy import details
from pcloud.client.deploy import services
from pcloud.client import display


def units(values: Sequence[services.Unit]) -> str:
    """Format units, a line for each unit."""
    return '\n'.join(f'{unit.name} ({unit.id}, {unit.status})'
                     for unit in values) or '-'


def co_located(values: Sequence[services.Unit]) -> str:
    """Format co-located units with parents, a line for each unit."""
    return '\n'.join(
        f'{unit.service}: {unit.name} ({unit.id}, {unit.status}) '
        f'beside {unit.parent}' for unit in values) or '-'


def consumes(values: Sequence[details.Consumed]) -> str:
    """Format consumed services with states, a line for each service."""
    return '\n'.join(f'{service.service}: {service.state}'
                     for service in values) or '-'


_UNIT_HEAD = (
    display.Field('service', 'Service'),
    display.Field('name', 'Name'),
    display.Field('id', 'ID'),
)
UNIT_LIST = _UNIT_HEAD + (
    display.Field('status', 'Status'),
    display.Field('parent', 'Parent'),
)
CHANGE_LIST = _UNIT_HEAD + (display.Field('change', 'Change'),)
SERVICE = (
    display.Field('service', 'Service'),
    display.Field('units', 'Units', units),
    display.Field('co_located', 'Co-located', co_located),
    display.Field('consumes', 'Consumes', consumes),
)
