# SPDX-License-Identifier: Apache-2.0

"""``OS::Pcloud::Pcloud``."""

import dataclasses
import typing

from heat.engine import attributes
from heat.engine import constraints
from heat.engine import properties

from pcloud_heat import base


# The values of a Pcloud whose owner has chosen nothing; a ratio has none.
_WITHOUT = {'maintenance_policy': 'stay', 'host_recovery': 'off',
            'placement': 'default'}


def _ratio(kind: str) -> properties.Schema:
    return properties.Schema(
        properties.Schema.NUMBER,
        f'How often the {kind} of the hosts is given out; without a value the '
        "hosts keep the cloud's own ratio.", update_allowed=True,
        constraints=[constraints.Range(min=0)])


class Pcloud(base.PcloudResource):
    """A Pcloud of the project.

    The deletion fails while the Pcloud has hosts that are not resources of
    the stack.
    """

    PROPERTIES = (
        NAME, CPU_RATIO, RAM_RATIO, MAINTENANCE_POLICY, HOST_RECOVERY,
        PLACEMENT,
    ) = (
        'name', 'cpu_allocation_ratio', 'ram_allocation_ratio',
        'maintenance_policy', 'host_recovery', 'placement',
    )

    ATTRIBUTES = (UNITS, HOST_COUNT) = ('units', 'host_count')

    properties_schema = {
        NAME: properties.Schema(
            properties.Schema.STRING, 'The name of the Pcloud.',
            update_allowed=True),
        CPU_RATIO: _ratio('cpus'),
        RAM_RATIO: _ratio('memory'),
        MAINTENANCE_POLICY: base.choice(
            'What is done for a host that is going to be in maintenance.',
            ['stay', 'migrate', 'replace'], update_allowed=True),
        HOST_RECOVERY: base.choice(
            'What is done for a host that has failed.',
            ['off', 'in_place', 'replace'], update_allowed=True),
        PLACEMENT: base.choice(
            'Whether servers fill hosts or are spread.',
            ['pack', 'spread', 'default'], update_allowed=True),
    }

    attributes_schema = {
        UNITS: attributes.Schema(
            'The units that the hosts count in the quota.',
            type=attributes.Schema.INTEGER),
        HOST_COUNT: attributes.Schema(
            'The number of hosts.', type=attributes.Schema.INTEGER),
    }

    def handle_create(self) -> None:
        """Make the Pcloud, and then set what the template gives."""
        made = self.pclouds().create_pcloud(self._name())
        self.resource_id_set(made.id)
        changes = self.given(*self.PROPERTIES[1:])
        if changes:
            self.pclouds().update_pcloud(made.id, **changes)

    def handle_update(self, json_snippet: typing.Any,
                      tmpl_diff: typing.Any, prop_diff: base.Values) -> None:
        """Change the members that differ; a value that is gone is unset."""
        if prop_diff:
            changes: dict[str, typing.Any] = {
                name: self._unset(name) if value is None else value
                for name, value in prop_diff.items()}
            self.pclouds().update_pcloud(self.resource_id, **changes)

    def handle_delete(self) -> None:
        """Delete the Pcloud."""
        if self.resource_id is not None:
            with base.gone:
                self.pclouds().delete_pcloud(self.resource_id)

    def _name(self) -> str:
        return self.properties[self.NAME] or self.physical_resource_name()

    def _unset(self, name: str) -> str | None:
        """Return what the API takes for a value that the template drops."""
        if name == self.NAME:
            return self.physical_resource_name()
        return _WITHOUT.get(name)

    def _show_resource(self) -> dict[str, typing.Any]:
        return dataclasses.asdict(
            self.pclouds().get_pcloud(self.resource_id))

    def _resolve_attribute(self, name: str) -> typing.Any:
        """Return what the Pcloud has; Heat gives another one None."""
        if self.resource_id is None:
            return None
        found = self.pclouds().get_pcloud(self.resource_id)
        return found.units if name == self.UNITS else found.host_count
