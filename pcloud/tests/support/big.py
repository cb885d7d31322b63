# SPDX-License-Identifier: Apache-2.0

"""A cloud in this process with many hosts in the databases."""

from __future__ import annotations

from nova import objects
from oslo_utils import uuidutils
from placement import db_api as placement_db

from pcloud.rules.placing import hints
from pcloud.tests.support import base
from pcloud.tests.support import bulk

# Hosts of each Pcloud.
SIZE = 20


class BigCloud(base.PcloudTestCase):
    """Two compute services that run, and any number of hosts in rows alone.

    Half of the hosts in rows are in pools; each pooled host is in a Pcloud,
    and the first Pcloud is Alice's. Each host in rows runs a server.

    :ivar rows: writes the rows
    :ivar pcloud: the id of Alice's Pcloud; None before `grow`
    """

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def setUp(self):
        super().setUp()
        # Services in rows alone never report.
        self.flags(service_down_time=1000000)
        self.rows = bulk.Rows(placement_db.get_placement_engine())
        self.pcloud = None
        self._server = self.boot(self.admin, host='node-1')
        self._servers: dict[str, str] = {}

    def _configure(self):
        super()._configure()
        self.flags(
            enabled_filters=[
                *base.CONF.filter_scheduler.enabled_filters,
                'AffinityFilter', 'ConstraintsFilter', 'LocalityFilter',
                'ColocationFilter', 'RebootFilter'],
            group='filter_scheduler')

    def grow(self, count: int) -> None:
        """Add hosts in rows until there are `count` of such hosts.

        The scheduler is restarted, and then knows all hosts.
        """
        added = [f'bulk-{number:05}'
                 for number in range(len(self._servers), count)]
        self.rows.hosts('node-1', added)
        self._servers |= self.rows.servers(self._server['id'], added)
        ratios = self.rows.ratios('node-1')
        pooled = added[:len(added) // 2]
        made = [bulk.pool(added[0], pooled)]
        for start in range(0, len(pooled), SIZE):
            owner = uuidutils.generate_uuid(dashed=False)
            if self.pcloud is None:
                owner = base.ALICE
            made.append(bulk.pcloud(
                owner, pooled[start:start + SIZE], ratios))
            self.pcloud = self.pcloud or made[-1].id
        self.rows.aggregates(made)
        self._restart_scheduler()

    def _restart_scheduler(self):
        self.scheduler.stop()
        self.scheduler = self.start_service('scheduler')
        self.wait_until(lambda: self.assertGreaterEqual(
            len(self.manager.host_manager._instance_info),
            len(self._servers)))
        # Compute services send this message from time to time; until then
        # the scheduler asks the database about each host.
        for host, server in self._servers.items():
            self.manager.sync_instance_info(self.context, host, [server])

    @property
    def manager(self):
        """Nova's scheduler manager, which the RPC server calls."""
        return self.scheduler.manager

    def request(self, pcloud: str | None) -> objects.RequestSpec:
        """Return a new request for a server of Alice's.

        :param pcloud: the hint of the request; None for no hint
        """
        spec = objects.RequestSpec.get_by_instance_uuid(
            self.context, self._server['id'])
        spec.instance_uuid = uuidutils.generate_uuid()
        spec.project_id = base.ALICE
        spec.requested_destination = None
        spec.requested_resources = []
        spec.scheduler_hints = (
            {hints.PCLOUD: [pcloud]} if pcloud else {})
        return spec

    def select(self, spec: objects.RequestSpec) -> str:
        """Return the host that the scheduler chooses and claims.

        :raises: `nova.exception.NoValidHost` when no host is left
        """
        selections = self.manager.select_destinations(
            self.context, spec_obj=spec, instance_uuids=[spec.instance_uuid],
            return_objects=True, return_alternates=True)
        return selections[0][0].service_host

    def give_up(self, spec: objects.RequestSpec) -> None:
        """Delete the allocation that `select` has claimed."""
        self.manager.placement_client.delete_allocation_for_instance(
            self.context, spec.instance_uuid, force=True)
