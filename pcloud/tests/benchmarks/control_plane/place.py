# SPDX-License-Identifier: Apache-2.0

"""A control plane in this process, over a cloud of rows.

Half of the hosts are open to everybody. Of the hosts in pools a fifth is
free; the rest is in Pclouds of four hosts, so that there is a Pcloud for ten
hosts. A hundredth of the Pclouds has a drained, empty host.
"""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import json
import logging
from unittest import mock

from pcloud.tests import concurrency  # noqa: F401

from nova.compute import rpcapi as compute_rpcapi
from nova import context as nova_context
from nova.db.api import models as api_models
from nova.db.main import models as main_models
from nova import exception as nova_exception
from nova import objects
from nova import rpc
from nova.scheduler import host_manager
from nova.scheduler import manager as scheduler
from oslo_config import cfg
from oslo_utils import uuidutils
from paste import deploy
import sqlalchemy as sa
import webob

from pcloud.rules.placing import hints
from pcloud.tests.benchmarks import boots
from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks.model import limits
from pcloud.tests.benchmarks import workers
from pcloud.tests.concurrency import mariadb
from pcloud.tests.concurrency import neighbours
from pcloud.tests.support import bulk

OWNER, STRANGER = 'a' * 32, 'b' * 32
OF_PCLOUD, _HOSTS_A_PCLOUD, _DRAINED = 4, 10, 100
# Hosts in no pool whose compute services are disabled, and hosts that have a
# value of the attribute.
SPARE, WITH_VALUE = 40, 1000
MICROVERSION = 'compute 2.100'
# Of the fake of Glance.
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'

OPTIONS = boots.options(boots.FILTER) + """
[quota]
instances = -1
cores = -1
ram = -1
"""


def prepare(cloud: clouds.Cloud) -> None:
    """Write the host that all others are copies of, and a flavor."""
    cloud.make_host('template')
    boots.own('template' + bulk.NODE_SUFFIX)
    boots.report_nodes()
    context = nova_context.get_admin_context()
    objects.Flavor(
        context, flavorid='1', name='m', vcpus=1, memory_mb=1, root_gb=1,
        ephemeral_gb=0, swap=0, rxtx_factor=1.0, vcpu_weight=0,
        disabled=False, is_public=True, extra_specs={}).create()


def names_of(count: int) -> list[str]:
    """Return the names of so many hosts."""
    return [f'compute-{number:06}' for number in range(count)]


def fill(cloud: clouds.Cloud, count: int) -> list[bulk.Aggregate]:
    """Write all rows; return the Pclouds, of which the first is `OWNER`'s."""
    prepare(cloud)
    rows = cloud.rows()
    hosts = names_of(count)
    spare = [f'spare-{number:02}' for number in range(SPARE)]
    rows.hosts('template', [*hosts, *spare])
    pooled = hosts[:count // 2]
    taken = iter([host for number, host in enumerate(pooled)
                  if number // limits.FLAVORS % 5])
    pclouds = [
        bulk.pcloud(OWNER if not number else f'{number:032}',
                    list(itertools.islice(taken, OF_PCLOUD)), {})
        for number in range(count // _HOSTS_A_PCLOUD)]
    for each in pclouds[1::_DRAINED]:
        workers.drain(each, each.hosts[0], is_maintained=False)
    rows.aggregates([
        *(bulk.zone(f'zone-{number}', hosts[number::2])
          for number in range(2)),
        *(bulk.pool(f'flavor-{number}', pooled[number::limits.FLAVORS])
          for number in range(limits.FLAVORS)), *pclouds])
    with sa.create_engine(mariadb.url('nova_cell1')).begin() as cell:
        cell.execute(sa.update(main_models.Service).where(
            main_models.Service.host.in_(spare)).values(disabled=True))
    clouds.analyze()
    return pclouds


def spec_of(
    context: nova_context.RequestContext, pcloud: str | None,
    project: str = OWNER,
) -> objects.RequestSpec:
    """Return a request for a server.

    :param pcloud: the id of the Pcloud in the hint; None for no hint
    :param project: who asks for a server in the Pcloud
    """
    made = objects.RequestSpec.from_components(
        context, uuidutils.generate_uuid(), {}, objects.Flavor(
            id=1, flavorid='1', name='m', vcpus=1, memory_mb=1, root_gb=0,
            ephemeral_gb=0, swap=0, extra_specs={}),
        None, objects.InstancePCIRequests(requests=[]),
        {'scheduler_hints': {hints.PCLOUD: [pcloud]}} if pcloud else {},
        None, None, project_id=project if pcloud else STRANGER, user_id='u')
    made.requested_resources = []
    return made


def launch_body(pcloud: str | None) -> dict:
    """Return the body of a launch."""
    return {'server': {'name': 's', 'flavorRef': '1', 'imageRef': IMAGE,
                       'networks': 'none'},
            'os:scheduler_hints': {hints.PCLOUD: pcloud} if pcloud else {}}


class Chooser:
    """A scheduler in this process, which knows that all hosts are empty.

    Else the scheduler would ask for the servers of ten hosts at a time, for
    minutes, beside what is measured.
    """

    def __init__(self) -> None:
        with mock.patch.object(
                host_manager.HostManager, '_init_instance_info'):
            self.manager = scheduler.SchedulerManager()
        self._context = nova_context.RequestContext(
            user_id='u', project_id=OWNER, is_admin=True)
        context = nova_context.get_admin_context()
        for cell in objects.CellMappingList.get_all(context):
            for host in objects.HostMappingList.get_by_cell_id(
                    context, cell.id):
                self.manager.host_manager._instance_info[host.host] = {
                    'instances': {}, 'updated': True}

    def choose(
        self, pcloud: str | None, project: str = OWNER,
        cell: objects.CellMapping | None = None,
    ) -> str:
        """Choose and claim a host; return the uuid of the server.

        :param cell: where Nova is to look for hosts; None for all cells
        :raises: `nova.exception.NoValidHost`
        """
        spec = spec_of(self._context, pcloud, project)
        if cell is not None:
            spec.requested_destination = objects.Destination(cell=cell)
        self.manager.select_destinations(
            self._context, spec_obj=spec, instance_uuids=[spec.instance_uuid],
            return_objects=True, return_alternates=True)
        return spec.instance_uuid

    def give_up(self, server: str) -> None:
        """Delete what `choose` has claimed."""
        self.manager.placement_client.delete_allocation_for_instance(
            self._context, server, force=True)


class Place:
    """Nova's API with Pcloud, a scheduler and a worker in this process.

    :param hosts: the number of hosts
    :ivar cloud: the databases and Placement
    :ivar hosts: the hosts
    :ivar pclouds: the Pclouds, of which the first is `OWNER`'s
    """

    def __init__(self, hosts: int) -> None:
        self.cloud = clouds.Cloud(processes=0, options=OPTIONS)
        self.cloud.start()
        logging.getLogger().setLevel(logging.WARNING)
        rpc.init(cfg.CONF)
        objects.register_all()
        self._neighbours = neighbours.Neighbours()
        self._neighbours.setUp()
        # No compute service is there to answer.
        self._answers = mock.patch.object(
            compute_rpcapi.ComputeAPI, 'set_host_enabled')
        self._answers.start()
        self.hosts = names_of(hosts)
        self.pclouds: Sequence[bulk.Aggregate] = fill(self.cloud, hosts)
        self._application = deploy.loadapp(
            'config:' + cfg.CONF.wsgi.api_paste_config, name='osapi_compute')
        self.chooser = Chooser()

    def stop(self) -> None:
        """Stop Placement and drop the databases."""
        self._answers.stop()
        self._neighbours.cleanUp()
        self.cloud.stop()

    def call(self, method: str, path: str, body: dict | None = None,
             roles: str = 'reader,member') -> None:
        """Make a call as the owner, or with the roles of an administrator.

        :raises: `AssertionError` when the call does not succeed
        """
        request = webob.Request.blank('/v2.1' + path, headers={
            'X-Project-Id': OWNER, 'X-Roles': roles,
            'X-Auth-Token': 'token', 'OpenStack-API-Version': MICROVERSION})
        request.method = method
        if body is not None:
            request.content_type = 'application/json'
            request.body = json.dumps(body).encode()
        response = request.get_response(self._application)
        assert 200 <= response.status_code < 300, response.text

    def forget_launches(self) -> None:
        """Delete the launches that nobody builds.

        Hosts that change hands wait for launches.
        """
        with sa.create_engine(mariadb.url('nova_api')).begin() as connection:
            connection.execute(sa.delete(api_models.BuildRequest))

    def choose(self, pcloud: str | None) -> None:
        """Choose a host for a server, and give the host up.

        :raises: `AssertionError` when no host is found
        """
        try:
            self.chooser.give_up(self.chooser.choose(pcloud))
        except nova_exception.NoValidHost as error:
            raise AssertionError(str(error))
