# SPDX-License-Identifier: Apache-2.0

"""``OS::Pcloud::Default``."""

import dataclasses
import typing

from heat.common import exception
from heat.engine import properties

from pcloud_heat import base


class Default(base.PcloudResource):
    """The default Pcloud of the project, where servers without a hint start.

    A project has one default: the resource replaces what was set before. The
    deletion leaves a default alone that names another Pcloud by now.
    """

    PROPERTIES = (
        PCLOUD, MODE, HOST_FLAVOR, MAX_HOSTS, ZONE,
    ) = (
        'pcloud', 'mode', 'host_flavor', 'max_hosts', 'availability_zone',
    )
    _GROWTH = (HOST_FLAVOR, MAX_HOSTS, ZONE)

    properties_schema = {
        PCLOUD: properties.Schema(
            properties.Schema.STRING, 'The id of the Pcloud.',
            required=True, update_allowed=True),
        MODE: base.choice(
            'What happens when the Pcloud has no capacity.',
            ['strict', 'prefer', 'grow'], default='strict',
            update_allowed=True),
        HOST_FLAVOR: properties.Schema(
            properties.Schema.STRING,
            'With "grow", the id of the host flavor of hosts that join.',
            update_allowed=True),
        MAX_HOSTS: base.count(
            'With "grow", the most hosts of the Pcloud.', 1),
        ZONE: properties.Schema(
            properties.Schema.STRING,
            'With "grow", the availability zone of hosts that join.',
            update_allowed=True),
    }

    def validate(self) -> None:
        """Check that a Pcloud that grows is told how.

        :raises: `heat.common.exception.StackValidationFailed`
        """
        super().validate()
        grows = self.properties[self.MODE] == 'grow'
        given = self.given(*self._GROWTH)
        if grows and not {self.HOST_FLAVOR, self.MAX_HOSTS} <= given.keys():
            raise exception.StackValidationFailed(
                message=f'{self.name} needs {self.HOST_FLAVOR} and '
                        f'{self.MAX_HOSTS} with the mode grow')
        if given and not grows:
            raise exception.StackValidationFailed(
                message=f'{", ".join(given)} of {self.name} are for the mode '
                        'grow alone')

    def handle_create(self) -> None:
        """Set the default of the project of the stack."""
        self._set(self.properties)
        self.resource_id_set(self.context.project_id)

    def handle_update(self, json_snippet: typing.Any,
                      tmpl_diff: typing.Any, prop_diff: base.Values) -> None:
        """Set the whole default anew."""
        if prop_diff:
            self._set(json_snippet.properties(
                self.properties_schema, self.context))

    def handle_delete(self) -> None:
        """Set the default to outside of Pclouds, unless somebody changed it.

        The API has no call that lets a wider default count again.
        """
        if self.resource_id is None:
            return
        client = self.pclouds()
        found = client.get_default_of('project', self.resource_id)
        if found.source == 'project' and (
                found.pcloud == self.properties[self.PCLOUD]):
            client.set_default_of('project', self.resource_id, None)

    def _set(self, wanted: base.Values) -> None:
        self.pclouds().set_default_of(
            'project', self.context.project_id, wanted[self.PCLOUD],
            wanted[self.MODE],
            **{name: wanted[name] for name in self._GROWTH})

    def _show_resource(self) -> dict[str, typing.Any]:
        return dataclasses.asdict(self.pclouds().get_default_of(
            'project', self.resource_id))
