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
