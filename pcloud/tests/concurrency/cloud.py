# SPDX-License-Identifier: Apache-2.0

"""API processes, databases, and hosts that are only rows."""

import atexit
from collections.abc import Mapping
import contextlib
import dataclasses
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from nova.compute import api as compute_api
from nova import config
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova import objects
from nova.scheduler.client import report
from oslo_utils import timeutils
from oslo_utils import uuidutils
import requests
import sqlalchemy as sa

from pcloud.backend.calls import placement
from pcloud import conf
from pcloud import names
from pcloud.tests.concurrency import mariadb
from pcloud.tests.support import bulk
from pcloud_sandbox.configuration import paste

PROCESSES = 3
# Seconds for a single answer, or an end, on the slowest of machines.
_TIMEOUT = 600

_NOVA_CONF = """
[DEFAULT]
transport_url = {transport}
service_down_time = 1000000
state_path = {folder}
log_file = {folder}/{name}.log
[wsgi]
api_paste_config = {folder}/api-paste.ini
[api_database]
connection = {nova_api}
[database]
connection = {cell}
[placement]
auth_type = admin_token
endpoint = http://127.0.0.1:{placement_port}
token = admin
[oslo_concurrency]
lock_path = {folder}
[pcloud]
quota_units = -1
allocation_backoff = 0.1
metrics_directory = {folder}/metrics
{options}
"""

_PLACEMENT_CONF = """
[DEFAULT]
log_file = {folder}/placement.log
[api]
auth_strategy = noauth2
[placement_database]
connection = {placement}
sync_on_startup = True
"""

_HEADERS = """
[filter:headers]
paste.filter_factory = pcloud.tests.concurrency.headers:filter_factory
"""


@dataclasses.dataclass(frozen=True)
class SecondCell:
    """A cell beside cell1, with a database and a broker of its own.

    :ivar transport: the URL of the cell's message broker
    :ivar port: the port at which every process reaches the cell's database
    """

    transport: str
    port: int


class Cloud:
    """Several API processes over one set of databases.

    :param processes: number of API processes
    :param server: the program of the API processes (see `server`):
        'faulty-nova' lets a request ask for the kill of the process, 'nova'
        does not
    :param options: further lines for nova.conf
    :param transport: the URL of a message broker
    :ivar urls: the URLs of the API processes
    :ivar folder: the folder of all files while the cloud runs
    :ivar config: the configuration that this process uses
    :ivar second_config: the configuration of the services of a second cell
    :ivar placement_port: the port of Placement
    """

    def __init__(self, processes: int = PROCESSES,
                 server: str = 'faulty-nova', options: str = '',
                 transport: str = 'fake://') -> None:
        self._server = server
        self._options = options
        self._transport = transport
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='pcloud-test-'))
        self._processes: list[subprocess.Popen] = []
        self._cells: dict[str, objects.CellMapping] = {}
        self._databases = list(mariadb.NAMES)
        self.config = self.folder / 'direct.conf'
        self.second_config = self.folder / 'second.conf'
        self.placement_port, *self._ports = mariadb.free_ports(processes + 1)
        self.urls = [f'http://127.0.0.1:{port}' for port in self._ports]

    def start(self, detours: Mapping[int, int] | None = None,
              second: SecondCell | None = None) -> None:
        """Create the databases, and start Placement and the API processes.

        :param detours: port of a server -> port of the proxy through which
            the API processes are to reach the server
        :param second: a cell to have beside cell1
        :raises: `AssertionError` with the tails of the logs when a process
            does not answer
        """
        if second:
            self._databases.append(mariadb.SECOND)
        mariadb.create(self._databases)
        self._write(self.config, {}, mariadb.PORT)
        served = [self.folder / f'nova-{number}.conf'
                  for number in range(len(self._ports))]
        # Where there are several nodes, each process has another.
        for path, node in zip(served, itertools.cycle(mariadb.PORTS)):
            self._write(path, detours or {}, node)
        self._write_others()
        self.serve('placement', self.folder / 'placement.conf',
                   self.placement_port)
        self._sync()
        if second:
            self._add_cell(second)
        for path, port in zip(served, self._ports, strict=True):
            self.serve(self._server, path, port)
        for url in [f'http://127.0.0.1:{self.placement_port}', *self.urls]:
            self.wait_for(url)
        config.parse_args(['test', '--config-file', str(self.config)])
        conf.register_opts(config.CONF)
        objects.register_all()
        self._cells = {
            each.name: each for each in objects.CellMappingList.get_all(
                nova_context.get_admin_context()) if not each.is_cell0()}

    def kill(self, number: int) -> bool:
        """Kill the process that serves a URL of `urls`; a new one follows.

        :param number: the index in `urls`
        :returns: False when no process serves the URL at this moment
        """
        children = _children(self._processes[1 + number].pid)
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return bool(children)

    def serving(self) -> list[int]:
        """Return the ids of the processes that serve at this moment."""
        return [child for each in self._processes
                for child in _children(each.pid)]

    def stop(self) -> None:
        """Stop all processes, drop the databases, and remove the files."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait(_TIMEOUT)
        mariadb.drop(self._databases)
        shutil.rmtree(self.folder)

    def errors(self) -> str:
        """Return the ERROR lines of the API processes' log."""
        lines = self.log.read_text().splitlines()
        return '\n'.join(line for line in lines if ' ERROR ' in line)

    @property
    def log(self) -> pathlib.Path:
        """The log of the API processes."""
        return self.folder / 'nova.log'

    def _write(
        self, path: pathlib.Path, detours: Mapping[int, int], node: int,
    ) -> None:
        port = detours.get(node, node)
        self._fill_in(
            path, self._transport, mariadb.url('nova_api', port),
            mariadb.url('nova_cell1', port),
            detours.get(self.placement_port, self.placement_port))

    def _fill_in(self, path: pathlib.Path, transport: str, nova_api: str,
                 cell: str, placement_port: int) -> None:
        path.write_text(_NOVA_CONF.format(
            folder=self.folder, name='nova', options=self._options,
            transport=transport, placement_port=placement_port,
            nova_api=nova_api, cell=cell))

    def _write_others(self) -> None:
        (self.folder / 'placement.conf').write_text(_PLACEMENT_CONF.format(
            folder=self.folder, placement=mariadb.url('placement')))
        text = paste.with_pcloud(paste.installed(
            'nova', 'etc/nova/api-paste.ini').read_text())
        (self.folder / 'api-paste.ini').write_text(
            text.replace('authtoken keystonecontext', 'headers') + _HEADERS)

    def _sync(self) -> None:
        for command in (
                ['api_db', 'sync'],
                ['cell_v2', 'map_cell0', '--database_connection',
                 mariadb.url('nova_cell0', '{port}')],
                ['cell_v2', 'create_cell', '--name', 'cell1',
                 '--database_connection',
                 mariadb.url('nova_cell1', '{port}'),
                 '--transport-url', self._transport],
                ['db', 'sync']):
            _manage(self.config, *command)

    def _add_cell(self, second: SecondCell) -> None:
        """Make cell2, which the services of cell2 alone call their own."""
        database = mariadb.url(mariadb.SECOND, second.port)
        self._fill_in(self.second_config, second.transport,
                      mariadb.url('nova_api'), database, self.placement_port)
        _manage(self.config, 'cell_v2', 'create_cell', '--name', 'cell2',
                '--database_connection', database,
                '--transport-url', second.transport)
        _manage(self.second_config, 'db', 'sync', '--local_cell')

    def serve(self, kind: str, conf_file: pathlib.Path, port: int) -> None:
        """Start a process of a kind of the program `server`."""
        self.spawn('server', kind, conf_file, str(port))

    def spawn(self, program: str,
              *arguments: str | pathlib.Path) -> subprocess.Popen:
        """Start a program of this package; `stop` ends the program.

        The program ends with the thread that has started it, too.
        """
        with open(self.folder / f'{arguments[0]}.out', 'a') as output:
            started = subprocess.Popen(
                [sys.executable, '-m', f'pcloud.tests.concurrency.{program}',
                 *arguments], stdout=output, stderr=output)
        self._processes.append(started)
        return started

    def wait_for(self, url: str) -> None:
        """Wait until a server answers at a URL.

        :raises: `AssertionError` with the tails of the logs when a process
            has ended instead
        """
        while all(each.poll() is None for each in self._processes):
            try:
                requests.get(url, timeout=_TIMEOUT,
                             headers={'X-Auth-Token': 'admin'})
                return
            except requests.ConnectionError:
                time.sleep(0.1)
        told = ''.join(path.read_text()[-3000:]
                       for path in self.folder.glob('*.out'))
        raise AssertionError(f'{url} does not answer: {told}')

    def seed(self, flavor_id: str, count: int, units: int = 1,
             cell: str = 'cell1') -> list[str]:
        """Make a host flavor with free hosts; return the hosts' names."""
        context = nova_context.get_admin_context()
        pool = objects.Aggregate(
            context, name=names.pool(flavor_id), metadata={
                names.TYPE: names.TYPE_POOL, names.FLAVOR_ID: flavor_id,
                names.DESCRIPTION: '', names.UNITS: str(units)})
        pool.create()
        hosts = [f'{flavor_id}-{number}' for number in range(count)]
        for host in hosts:
            node = self.make_host(host, cell=cell)
            compute_api.AggregateAPI().add_host_to_aggregate(
                context.elevated(), pool.id, host)
            body = placement.aggregates(context, node)
            body['aggregates'].append(names.CLOSED_UUID)
            assert placement.set_aggregates(context, node, body)
        # As a change of Pcloud has them join, so that they are free at once.
        with api_db.context_manager.writer.using(context) as session:
            session.execute(sa.update(api_models.AggregateHost).where(
                api_models.AggregateHost.aggregate_id == pool.id,
            ).values(updated_at=timeutils.utcnow()))
        return hosts

    def make_host(self, host: str, *, disabled: bool = False,
                  cell: str = 'cell1') -> str:
        """Make a host in no pool, whose compute service is only a row.

        :returns: the uuid of the resource provider of the host's node
        """
        context = nova_context.get_admin_context()
        mapping = self._cells[cell]
        objects.HostMapping(
            context, host=host, cell_mapping=mapping).create()
        node_uuid = uuidutils.generate_uuid()
        with nova_context.target_cell(context, mapping) as cell_context:
            service = objects.Service(
                cell_context, host=host, binary='nova-compute',
                topic='compute', last_seen_up=timeutils.utcnow(),
                report_count=1, disabled=disabled)
            service.create()
            objects.ComputeNode(
                cell_context, uuid=node_uuid, service_id=service.id,
                host=host, hypervisor_hostname=host + bulk.NODE_SUFFIX,
                vcpus=10, memory_mb=8192, local_gb=100, vcpus_used=0,
                memory_mb_used=0, local_gb_used=0, hypervisor_type='fake',
                hypervisor_version=1, cpu_info='', mapped=1).create()
        client = report.report_client_singleton()
        assert client.post('/resource_providers', {
            'uuid': node_uuid, 'name': host + bulk.NODE_SUFFIX}).ok
        inventory = {'total': 10, 'allocation_ratio': 4.0}
        assert client.put(f'/resource_providers/{node_uuid}/inventories', {
            'resource_provider_generation': 0, 'inventories': {
                'VCPU': inventory, 'MEMORY_MB': inventory}}).ok
        return node_uuid


def _children(pid: int) -> list[int]:
    return [int(child) for child in pathlib.Path(
        f'/proc/{pid}/task/{pid}/children').read_text().split()]


def _manage(config_file: pathlib.Path, *command: str) -> None:
    subprocess.run(
        [beside('nova-manage'), '--config-file', config_file, *command],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def beside(command: str) -> str:
    """Return the path of a command of this environment of Python."""
    return os.path.join(os.path.dirname(sys.executable), command)


_running: list[Cloud] = []


def get() -> Cloud:
    """Return the cloud of this test process, started at the first call.

    Nova's databases can be chosen only once in a process, so all tests share
    a cloud; each test makes separate host flavors.
    """
    if not _running:
        mariadb.need()
        made = Cloud()
        atexit.register(made.stop)
        made.start()
        _running.append(made)
    return _running[0]
