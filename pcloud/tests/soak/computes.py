# SPDX-License-Identifier: Apache-2.0

"""Hosts on which servers start: real compute services, over real brokers."""

from collections.abc import Callable
from collections.abc import Iterable
import concurrent.futures
import dataclasses
import pathlib
import subprocess
import time
from typing import TypeVar

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

_Started = TypeVar('_Started')
_ADMIN = f'{0:032x}'
# Beside nova.conf: the services wait for each other, but not for the database
# of the second cell, and builds that failed keep nobody from a host.
_OPTIONS = """
[DEFAULT]
long_rpc_timeout = 1800
compute_driver = fake.{driver}
[database]
max_retries = 0
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = pcloud.scheduler.filters.all_filters
enabled_filters = ComputeFilter,ImagePropertiesFilter,PcloudFilter
weight_classes = nova.scheduler.weights.all_weighers
weight_classes = pcloud.scheduler.weights.all_weighers
build_failure_weight_multiplier = 0
"""


def broker() -> servers.RabbitMQ:
    """Return a private broker of this run.

    :raises: `RuntimeError` where there is no RabbitMQ
    """
    if not servers.RabbitMQ.is_installed():
        raise RuntimeError(f'{servers.RabbitMQ.program} is not there; '
                           'install RabbitMQ, it needs not run')
    return servers.RabbitMQ()


@dataclasses.dataclass(frozen=True)
class Group:
    """Hosts of one kind.

    :ivar driver: the name of a class of `concurrency.hypervisors`
    :ivar second: whether the hosts are in the second cell
    :ivar apart: whether each host is a process of its own, which may be killed
    """

    hosts: list[str]
    driver: str = 'LateDriver'
    second: bool = False
    apart: bool = False


class Computes:
    """Compute services, what they need, and an API without faults.

    There are a conductor and two schedulers, a conductor of the second cell,
    and an API process.

    Requests for servers go through the API process without kills and without
    broken connections: the soak test does not judge how Nova handles faults.

    :ivar config: the nova.conf of these services, but for those of the second
        cell
    """

    def __init__(self, cloud: concurrency_cloud.Cloud) -> None:
        self._cloud = cloud
        self._port, = mariadb.free_ports(1)
        self.url = f'http://127.0.0.1:{self._port}'
        self.config = cloud.folder / 'services.conf'
        self._services: dict[str, str] = {}
        self._apart: dict[str, subprocess.Popen] = {}
        self._admin = self.user(_ADMIN, admin=True)
        # A process ends with the thread that has started it.
        self._starter = concurrent.futures.ThreadPoolExecutor(1)

    def start(self, groups: Iterable[Group]) -> None:
        """Start all services, and wait until servers can be requested."""
        self.config.write_text(self._config(Group([])))
        self._cloud.spawn('services', 'control', self.config)
        self._cloud.spawn('services', 'scheduler', self.config, 'scheduler-2')
        self._cloud.spawn('services', 'conductor',
                          self._write(Group([], second=True)))
        for group in groups:
            config = self._write(group)
            if group.apart:
                for host in group.hosts:
                    self._apart[host] = self._cloud.spawn(
                        'services', 'computes', config, host)
            else:
                self._cloud.spawn('services', 'computes', config,
                                  *group.hosts)
        self._cloud.serve('launching-nova', self.config, self._port)
        self._cloud.wait_for(self.url)
        context = nova_context.get_admin_context()
        hosts = {host for group in groups for host in group.hosts}
        while not hosts <= _reported(context):
            time.sleep(0.5)
        host_mapping.discover_hosts(context)
        self._make_flavors()

    def _write(self, group: Group) -> pathlib.Path:
        path = self._cloud.folder / (
            f'cell{1 + group.second}-{group.driver}.conf')
        path.write_text(self._config(group))
        return path

    def _config(self, group: Group) -> str:
        base = (self._cloud.second_config if group.second
                else self._cloud.config)
        return (base.read_text() + _OPTIONS.format(driver=group.driver) +
                keystone.options())

    def apart(self) -> list[str]:
        """Return the hosts that are processes of their own."""
        return list(self._apart)

    def kill(self, host: str) -> None:
        """Kill the process of a host that is a process of its own."""
        self._apart[host].kill()
        self._apart[host].wait()

    def revive(self, host: str) -> None:
        """Start the process of a killed host again."""
        args = self._apart[host].args
        assert isinstance(args, list)
        *_, config, _ = args
        self._apart[host] = self.lasting(
            self._cloud.spawn, 'services', 'computes', config, host)

    def lasting(self, start: Callable[..., _Started],
                *arguments: object) -> _Started:
        """Start a process that lives on when the calling thread ends."""
        return self._starter.submit(start, *arguments).result()

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
        self._change_service(host, {'status': status})

    def force_down(self, host: str, is_down: bool) -> None:
        """Say whether a host is fenced, by Nova's own call."""
        self._change_service(host, {'forced_down': is_down})

    def _change_service(self, host: str, body: dict) -> None:
        if host not in self._services:
            found, = _done(self._admin.call(
                'GET', f'/os-services?binary=nova-compute&host={host}',
                **NEW))['services']
            self._services[host] = found['id']
        _done(self._admin.call(
            'PUT', f'/os-services/{self._services[host]}', body, **NEW))

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
