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

"""What Nova's own calls cost with Pcloud's filter in front of nova-api.

``python -m pcloud.tests.benchmarks.own_calls`` fills databases on the MariaDB
of this machine with the servers of one project, and makes Nova's own calls
through two pipelines, with Pcloud's filter and without, in turns. Nothing in
the calls is Pcloud's, but every server has a recorded hint, which the filter
hides. What hiding costs is too little to be seen in a call of seconds, and is
taken by itself, beside the parsing of the same body.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import gc
import json
import logging
import sys
import time

from pcloud.tests import concurrency  # noqa: F401

from nova import config
from nova import context as nova_context
from nova.network import model as network_model
from nova import objects
from nova.scheduler.client import report
from oslo_utils import uuidutils
from paste import deploy
import webob

from pcloud.api.nova_calls import shown_hints
from pcloud.rules import hints
from pcloud.sandbox import paste
from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks import turns
from pcloud.tests.concurrency import headers
from pcloud.tests.concurrency import neighbours
from pcloud.tests import counting

_WITHOUT, _WITH = 'without', 'with'
_PROJECT = 'a' * 32
# From here on Nova shows the hints of servers.
_MICROVERSION = '2.100'
_HEADERS = f"""
[filter:headers]
paste.filter_factory = {headers.__name__}:filter_factory
"""

# The most processor time with the filter, as a multiple of the time without.
_SERVERS = 1000  # From here on the multiples are judged.
_LIST = '/servers/detail'
CALLS = {
    _LIST: 1.05,
    '/servers': 1.05,
    '/servers/{id}': 1.1,
    '/flavors/detail': 1.1,
}
# The most time to hide hints, as a multiple of the time to parse the body.
_HIDDEN, _PARSED, _MOST_HIDDEN = 'hidden', 'parsed', 0.25
_RECORDS = {hints.CUSTOMER_RECORD: ['FAST=1:2', 'NEAR=0.5:-1'],
            hints.DOMAIN_RECORD: ['default']}


class Place:
    """Nova's API in this process, with the filter and without.

    :param servers: the number of servers of the project
    """

    def __init__(self, servers: int) -> None:
        self._cloud = clouds.Cloud(processes=0)
        self._cloud.start()
        logging.getLogger().setLevel(logging.WARNING)
        # Placement pays for nothing here: no call reaches Placement.
        self._meter = meter.Meter()
        self._neighbours = neighbours.Neighbours()
        self._neighbours.setUp()
        stock = self._cloud.folder / 'stock-paste.ini'
        stock.write_text(paste.installed(
            'nova', 'etc/nova/api-paste.ini').read_text().replace(
                'authtoken keystonecontext', 'headers') + _HEADERS)
        self._applications = {
            name: deploy.loadapp(f'config:{path}', name='osapi_compute')
            for name, path in ((_WITHOUT, stock),
                               (_WITH, config.CONF.wsgi.api_paste_config))}
        config.CONF.set_override('max_limit', servers, 'api')
        self._server = self._fill(servers)

    def stop(self) -> None:
        """Stop Placement and drop the databases."""
        self._neighbours.cleanUp()
        self._cloud.stop()

    def _fill(self, count: int) -> str:
        """Write servers of the project; return the uuid of one."""
        self._cloud.make_host('template')
        uuid = _start('template')
        added = [f'compute-{number:06}' for number in range(count - 1)]
        rows = self._cloud.rows()
        rows.hosts('template', added)
        rows.servers(uuid, added)
        clouds.analyze()
        return uuid

    def get(self, name: str, path: str) -> bytes:
        """Make a call through one of the pipelines; return the body."""
        request = webob.Request.blank(
            '/v2.1' + path.replace('{id}', self._server), headers={
                'X-Project-Id': _PROJECT, 'X-Roles': 'reader,member',
                'OpenStack-API-Version': f'compute {_MICROVERSION}'})
        response = request.get_response(self._applications[name])
        assert response.status_code == 200, response.text
        return response.body

    def spender(self, name: str, path: str) -> Callable[[], float]:
        """Return a function that makes a call: seconds of processor time."""
        def spend() -> float:
            gc.collect()
            return self._meter.spent(lambda: self.get(name, path)).all
        return spend

    def count(self, name: str, path: str) -> counting.Count:
        """Return the statements and calls of a call."""
        return counting.least(lambda: self.get(name, path))


def _start(host: str) -> str:
    """Write a server that runs on a host; return the server's uuid."""
    context = nova_context.RequestContext(
        user_id='u', project_id=_PROJECT, is_admin=True)
    uuid = uuidutils.generate_uuid()
    cell = objects.HostMapping.get_by_host(context, host).cell_mapping
    flavor = objects.Flavor(
        id=1, flavorid='1', name='m', vcpus=1, memory_mb=1, root_gb=0,
        ephemeral_gb=0, swap=0, rxtx_factor=1.0, vcpu_weight=0,
        disabled=False, is_public=True, extra_specs={})
    with nova_context.target_cell(context, cell) as cell_context:
        node = objects.ComputeNode.get_first_node_by_host_for_old_compat(
            cell_context, host)
        instance = objects.Instance(
            cell_context, uuid=uuid, project_id=_PROJECT, user_id='u',
            display_name='s', host=host, node=node.hypervisor_hostname,
            launched_on=host, compute_id=node.id, flavor=flavor,
            instance_type_id=1, image_ref='', vm_state='active', vcpus=1,
            memory_mb=1, root_gb=0, ephemeral_gb=0, power_state=1,
            metadata={}, system_metadata={}, availability_zone='nova',
            locked=False, progress=0, config_drive='', hostname='s',
            info_cache=objects.InstanceInfoCache(
                network_info=network_model.NetworkInfo()))
        instance.create()
    objects.InstanceMapping(
        context, instance_uuid=uuid, cell_mapping=cell,
        project_id=_PROJECT, user_id='u', queued_for_delete=False).create()
    objects.RequestSpec.from_components(
        context, uuid, {}, flavor, None,
        objects.InstancePCIRequests(requests=[]),
        {'scheduler_hints': _RECORDS}, None, None,
        project_id=_PROJECT, user_id='u').create()
    assert report.report_client_singleton().put(f'/allocations/{uuid}', {
        'allocations': {node.uuid: {'resources': {'VCPU': 1}}},
        'project_id': _PROJECT, 'user_id': 'u', 'consumer_generation': None,
    }, version='1.28').ok
    return uuid


def hiding(body: bytes, name: str) -> turns.Turns:
    """Return works that hide hints in a body, and parse the body."""
    def spender(work: Callable[[], object]) -> Callable[[], float]:
        def spend() -> float:
            began = time.process_time()
            work()
            return time.process_time() - began
        return spend
    return turns.Turns(name, {
        _PARSED: spender(lambda: json.loads(body)),
        _HIDDEN: spender(lambda: shown_hints.without_secrets(
            body, lambda: False))})


def main() -> int:
    """Measure, print a table, and fail when a call costs too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--servers', type=int, default=_SERVERS)
    parser.add_argument('--repeat', type=int, default=15)
    options = parser.parse_args()
    place = Place(options.servers)
    judged, hidden = [], []
    try:
        shown = place.get(_WITHOUT, _LIST)
        assert shown.count(hints.DOMAIN_RECORD.encode()) == options.servers
        for body, name in ((shown, 'records in all servers'),
                           (place.get(_WITH, _LIST), 'no records')):
            hidden.append(hiding(body, name))
            hidden[-1].take(
                options.repeat, [turns.Bound(_HIDDEN, _PARSED, _MOST_HIDDEN)]
                if options.servers >= _SERVERS else [])
        for path, most in CALLS.items():
            print(f'{path}:', *(f'{name}: {place.count(name, path)}'
                                for name in (_WITHOUT, _WITH)))
            judged.append(turns.Turns(f'GET {path}', {
                name: place.spender(name, path)
                for name in (_WITHOUT, _WITH)}))
            judged[-1].take(
                options.repeat, [turns.Bound(_WITH, _WITHOUT, most)]
                if options.servers >= _SERVERS else [])
    finally:
        place.stop()
    print(turns.table(judged))
    print(turns.table(hidden))
    return turns.report_missed(judged + hidden)


if __name__ == '__main__':
    sys.exit(main())
