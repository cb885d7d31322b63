# SPDX-License-Identifier: Apache-2.0

"""The rows that requests read and write, as they are at one moment.

The tests read the rows thousands of times, so the module has SQL.
"""

from __future__ import annotations

import json
import typing

from pcloud.tests.support import databases

_API = (
    'SELECT name, uuid FROM aggregates',
    'SELECT name, host FROM aggregates a JOIN aggregate_hosts h '
    'ON h.aggregate_id = a.id',
    'SELECT name, m.key, m.value FROM aggregates a JOIN aggregate_metadata m '
    'ON m.aggregate_id = a.id',
    'SELECT instance_uuid, created_at FROM build_requests',
    'SELECT instance_uuid, created_at FROM request_specs',
    'SELECT instance_uuid, cell_id FROM instance_mappings')
_CELL = (
    'SELECT host, disabled FROM services',
    'SELECT uuid, host, vm_state, task_state, created_at FROM instances '
    'WHERE deleted = 0')
_PLACEMENT = (
    'SELECT id, generation FROM resource_providers',
    'SELECT resource_provider_id, uuid FROM resource_provider_aggregates r '
    'JOIN placement_aggregates a ON a.id = r.aggregate_id',
    'SELECT resource_provider_id, resource_class_id, allocation_ratio '
    'FROM inventories',
    'SELECT resource_provider_id, trait_id FROM resource_provider_traits',
    'SELECT resource_provider_id, consumer_id, resource_class_id, used '
    'FROM allocations')

_RUNNING = (
    'SELECT uuid, host, project_id FROM instances WHERE deleted = 0 '
    "AND host IS NOT NULL AND vm_state IN ('active', 'resized')")
_SPEC = 'SELECT spec FROM request_specs WHERE instance_uuid = ?'

_DUE = 'pcloud:due:'


class Server(typing.NamedTuple):
    """A server that runs on a host.

    :ivar hint: the id of the Pcloud in the server's hint, or None
    :ivar preferred: the id of the Pcloud that the server prefers, or None
    """

    uuid: str
    host: str
    project: str
    hint: str | None
    preferred: str | None


class Rows:
    """Reads the API database, a cell's and Placement's."""

    def __init__(
        self, api: databases.Connection, cell: databases.Connection,
        placement: databases.Connection,
    ) -> None:
        self._databases = [
            (api, _API), (cell, _CELL), (placement, _PLACEMENT)]
        self._hints: dict[str, list[str | None]] = {}

    def all(self) -> list[list[tuple]]:
        """Return all rows, sorted; names replace the ids of aggregates."""
        return [sorted(connection.execute(statement), key=repr)
                for connection, statements in self._databases
                for statement in statements]

    def members(self) -> list[tuple[str, str]]:
        """Return (name of the aggregate, host) of each member."""
        return self._api(_API[1])

    def metadata(self) -> list[tuple[str, str, str]]:
        """Return (name of the aggregate, key, value) of all metadata."""
        return self._api(_API[2])

    def dues(self) -> set[str]:
        """Return the hosts for which an update is due."""
        return {key.removeprefix(_DUE) for _, key, _ in self.metadata()
                if key.startswith(_DUE)}

    def servers(self) -> list[Server]:
        """Return the servers that are active on a host."""
        return [Server(*each, *self._of_server(each[0])) for each
                in self._databases[1][0].execute(_RUNNING)]

    def _of_server(self, uuid: str) -> list[str | None]:
        """Return the hint for a Pcloud, and the hint that prefers a Pcloud."""
        if uuid not in self._hints:
            (spec,), = self._api(_SPEC, uuid)
            hints = json.loads(spec)['nova_object.data'][
                'scheduler_hints'] or {}
            self._hints[uuid] = [
                next(iter(hints.get(name, [])), None)
                for name in ('pcloud', 'pcloud_prefer')]
        return self._hints[uuid]

    def _api(self, statement: str, *parameters: str) -> list[tuple]:
        return self._databases[0][0].execute(statement, *parameters)
