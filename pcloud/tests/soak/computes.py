# SPDX-License-Identifier: Apache-2.0

"""Hosts on which servers start: real compute services, over a real broker."""

import time

from nova import context as nova_context
from nova import objects
from nova.objects import host_mapping
import requests

from pcloud.tests.cloud.own import servers
from pcloud.tests.concurrency import cloud as concurrency_cloud
from pcloud.tests.concurrency import crowd
from pcloud.tests.concurrency import mariadb
from pcloud.tests.soak import keystone

NETWORK, IMAGE = 'none', '155d900f-4e14-4e4c-a73d-069cbf4541e6'
FLAVORS = ('small', 'large')
NEW = {'OpenStack-API-Version': 'compute 2.90'}

_ADMIN = f'{0:032x}'
# Beside nova.conf: the services wait for each other.
_OPTIONS = """
[DEFAULT]
long_rpc_timeout = 1800
compute_driver = fake.LateDriver
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = pcloud.scheduler.filters.all_filters
enabled_filters = ComputeFilter,ImagePropertiesFilter,PcloudFilter
weight_classes = nova.scheduler.weights.all_weighers
weight_classes = pcloud.scheduler.weights.all_weighers
"""


def broker() -> servers.RabbitMQ:
    """Return a private broker of this run.

    :raises: `RuntimeError` where there is no RabbitMQ
    """
    if not servers.RabbitMQ.is_installed():
        raise RuntimeError(f'{servers.RabbitMQ.program} is not there; '
                           'install RabbitMQ, it needs not run')
    return servers.RabbitMQ()


class Computes:
    """A conductor, a scheduler, compute services, and an API without faults.

    Requests for servers go through an API process without kills and without
    broken connections: the soak test does not judge how Nova handles faults.

    :param hosts: the names of the compute services' hosts
    :ivar config: the nova.conf of all these services
    """

    def __init__(self, cloud: concurrency_cloud.Cloud,
                 hosts: list[str]) -> None:
        self._cloud = cloud
        self._hosts = hosts
        self._port, = mariadb.free_ports(1)
        self.url = f'http://127.0.0.1:{self._port}'
        self.config = cloud.folder / 'services.conf'
        self._services: dict[str, str] = {}
        self._admin = self.user(_ADMIN, admin=True)

    def start(self) -> None:
        """Start all services, and wait until servers can be requested."""
        self.config.write_text(self._cloud.config.read_text() + _OPTIONS +
                               keystone.options())
        self._cloud.spawn('services', 'control', self.config)
        self._cloud.spawn('services', 'computes', self.config, *self._hosts)
        self._cloud.serve('launching-nova', self.config, self._port)
        self._cloud.wait_for(self.url)
        context = nova_context.get_admin_context()
        while not set(self._hosts) <= _reported(context):
            time.sleep(0.5)
        host_mapping.discover_hosts(context)
        self._make_flavors()

    def user(self, project: str, admin: bool = False) -> crowd.User:
        """Return a user who requests servers."""
        return crowd.User([self.url], project, admin=admin)

    def fill_pool(self, flavor: str, hosts: list[str]) -> None:
        """Make a host flavor whose hosts have real compute services."""
        _done(self._admin.call('POST', '/os-host-flavors', {
            'host_flavor': {'id': flavor, 'description': '', 'units': 1}}))
        for host in hosts:
            self.set_service(host, 'disabled')
            _done(self._admin.call(
                'POST', f'/os-host-flavors/{flavor}/hosts',
                {'host': {'host': host}}))

    def set_service(self, host: str, status: str) -> None:
        """Enable or disable a compute service."""
        if host not in self._services:
            found, = _done(self._admin.call(
                'GET', f'/os-services?binary=nova-compute&host={host}',
                **NEW))['services']
            self._services[host] = found['id']
        _done(self._admin.call(
            'PUT', f'/os-services/{self._services[host]}',
            {'status': status}, **NEW))

    def _make_flavors(self) -> None:
        for size, name in enumerate(FLAVORS, 1):
            _done(self._admin.call('POST', '/flavors', {'flavor': {
                'id': name, 'name': name, 'vcpus': size, 'ram': 256 * size,
                'disk': 1}}))


def _done(response: requests.Response) -> dict:
    assert response.status_code < 300, response.text
    return response.json()


def _reported(context: nova_context.RequestContext) -> set[str]:
    return {node.host for cell in objects.CellMappingList.get_all(context)
            if not cell.is_cell0()
            for node in _nodes(context, cell)}


def _nodes(context: nova_context.RequestContext,
           cell: objects.CellMapping) -> objects.ComputeNodeList:
    with nova_context.target_cell(context, cell) as in_cell:
        return objects.ComputeNodeList.get_all(in_cell)
