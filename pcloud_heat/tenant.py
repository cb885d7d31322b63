# SPDX-License-Identifier: Apache-2.0

"""``OS::Pcloud::Tenant``."""

import dataclasses
import typing

from heat.engine import properties

from pcloud_heat import base


class Tenant(base.PcloudResource):
    """A project that may start servers in a Pcloud."""

    PROPERTIES = (
        PCLOUD, PROJECT, MAX_SERVERS, MAX_VCPUS, MAX_MEMORY,
    ) = (
        'pcloud', 'project', 'max_servers', 'max_vcpus', 'max_memory_mb',
    )

    properties_schema = {
        PCLOUD: base.pcloud_property(),
        PROJECT: properties.Schema(
            properties.Schema.STRING, 'The id of the project.',
            required=True),
        MAX_SERVERS: base.count('The most servers of the project.', 0),
        MAX_VCPUS: base.count('The most vcpus of the project.', 0),
        MAX_MEMORY: base.count('The most memory of the project, in MiB.', 0),
    }

    def handle_create(self) -> None:
        """Make the project a tenant, with the caps of the template."""
        self._cap(self.given(self.MAX_SERVERS, self.MAX_VCPUS,
                             self.MAX_MEMORY))
        self.resource_id_set('/'.join((
            self.properties[self.PCLOUD], self.properties[self.PROJECT])))

    def handle_update(self, json_snippet: typing.Any,
                      tmpl_diff: typing.Any, prop_diff: base.Values) -> None:
        """Replace the caps: the API knows no change of a single cap."""
        if prop_diff:
            wanted = json_snippet.properties(
                self.properties_schema, self.context)
            self._cap({name: wanted[name] for name in (
                self.MAX_SERVERS, self.MAX_VCPUS, self.MAX_MEMORY)})

    def handle_delete(self) -> None:
        """Let the project start no more servers in the Pcloud."""
        if self.resource_id is not None:
            with base.gone:
                self.pclouds().remove_tenant(*self.resource_id.split('/'))

    def _cap(self, caps: base.Values) -> None:
        place = (self.properties[self.PCLOUD], self.properties[self.PROJECT])
        if caps:
            self.pclouds().cap_tenant(*place, **caps)
        else:
            self.pclouds().add_tenant(*place)

    def _show_resource(self) -> dict[str, typing.Any]:
        pcloud, project = self.resource_id.split('/')
        return next(
            dataclasses.asdict(tenant) for tenant
            in self.pclouds().list_tenants(pcloud)
            if tenant.project_id == project)
