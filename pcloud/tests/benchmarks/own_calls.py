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
hides. What the filter does costs too little to be seen in a call of seconds,
and is taken by itself too, with an answer that Nova has made before: of a
list, beside the parsing of the same body, and of a launch.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Mapping
import functools
import gc
import json
import logging
import pathlib
import sys
from wsgiref import types

from pcloud.tests import concurrency  # noqa: F401

from nova.api import wsgi
from nova import config
from nova import context as nova_context
from nova.network import model as network_model
from nova import objects
from nova import rpc
from nova.scheduler.client import report
from oslo_utils import uuidutils
from paste import deploy
import webob

from pcloud.rules import hints
from pcloud.sandbox import paste
from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks import suites
from pcloud.tests.benchmarks import turns
from pcloud.tests.concurrency import headers
from pcloud.tests.concurrency import neighbours
from pcloud.tests import counting

_WITHOUT, _WITH = 'without', 'with'
_PROJECT = 'a' * 32
# From here on Nova shows the hints of servers.
_MICROVERSION = '2.100'
_FILTERS = """
[filter:headers]
paste.filter_factory = {headers}:filter_factory
[filter:made]
paste.filter_factory = pcloud.tests.benchmarks.own_calls:made_factory
body = {body}
"""
_IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'

# The most processor time with the filter, as a multiple of the time without.
_SERVERS = 1000  # From here on the multiples are judged.
_LIST = '/servers/detail'
CALLS = {
    _LIST: 1.05,
    '/servers': 1.05,
    '/servers/{id}': 1.1,
    '/flavors/detail': 1.1,
}
# The most that a launch takes more than without Pcloud.
_LAUNCH, _LAUNCHED = '/servers', 1.1
_MOST_STATEMENTS = 1
# The most time of an answer made before, hints and all, as a multiple of the
# time to parse the answer.
_PARSED, _MOST_HIDDEN = 'parsed', 0.6
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
        rpc.init(config.CONF)
        # Placement pays for nothing here: no call reaches Placement.
        self._meter = meter.Meter()
        self._neighbours = neighbours.Neighbours()
        self._neighbours.setUp()
        config.CONF.set_override('max_limit', servers, 'api')
        config.CONF.set_override('instances', -1, 'quota')
        config.CONF.set_override('cores', -1, 'quota')
        config.CONF.set_override('ram', -1, 'quota')
        self._server = self._fill(servers)
        self._applications = self._load('headers')

    def stop(self) -> None:
        """Stop Placement and drop the databases."""
        self._neighbours.cleanUp()
        self._cloud.stop()

    def _load(self, filters: str) -> dict[str, types.WSGIApplication]:
        """Return Nova's API without and with Pcloud's filter.

        :param filters: what replaces the check of tokens; Pcloud's filter is
            behind the first
        """
        stock = paste.installed('nova', 'etc/nova/api-paste.ini').read_text()
        first, *rest = filters.split()
        loaded = {}
        for name, text, between in (
                (_WITHOUT, stock, []),
                (_WITH, stock + paste.FILTER, ['pcloud'])):
            path = self._cloud.folder / f'{name}-{first}-{len(rest)}.ini'
            path.write_text(text.replace(
                'authtoken keystonecontext',
                ' '.join([first, *between, *rest])) + _FILTERS.format(
                    headers=headers.__name__, body=self._body))
            loaded[name] = deploy.loadapp(
                f'config:{path}', name='osapi_compute')
        return loaded

    @property
    def _body(self) -> pathlib.Path:
        return self._cloud.folder / 'body.json'

    def make(self, body: bytes) -> dict[str, types.WSGIApplication]:
        """Return Nova's API where each answer has a body made before."""
        self._body.write_bytes(body)
        return self._load('headers made')

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
        return _sent(self._applications[name], _request(
            path.replace('{id}', self._server)))

    def launch(self, name: str) -> None:
        """Start a server that nobody places."""
        _sent(self._applications[name], _launch())

    def spender(self, call: Callable[[], object]) -> Callable[[], float]:
        """Return a function that makes a call: seconds of processor time."""
        def spend() -> float:
            gc.collect()
            return self._meter.spent(call).all
        return spend

    def hiding(self, body: bytes, name: str) -> turns.Turns:
        """Return works that list with a made body, and parse the body."""
        made = self.make(body)
        return turns.Turns(f'made: GET {_LIST}, {name}', {
            _PARSED: self.spender(lambda: json.loads(body)),
            **{each: self.spender(
                lambda made=made: _sent(made, _request(_LIST)))
               for each, made in made.items()}})

    def launching(self) -> turns.Turns:
        """Return works that launch, with a made answer."""
        return turns.Turns(f'made: POST {_LAUNCH}', {
            each: self.spender(lambda made=made: _sent(made, _launch()))
            for each, made in self.make(b'{}').items()})


class Made(wsgi.Middleware):
    """Answers each request with a body that was made before."""

    body = b''

    @webob.dec.wsgify
    def __call__(self, request: webob.Request) -> webob.Response:
        """Return the answer."""
        return webob.Response(
            body=self.body, content_type='application/json')


def made_factory(
    global_conf: Mapping[str, str], body: str,
) -> Callable[[types.WSGIApplication], Made]:
    """Make the filter `Made`, as paste.deploy does.

    :param body: the path of the body, which need not be there
    """
    def make(application: types.WSGIApplication) -> Made:
        made = Made(application)
        made.body = pathlib.Path(body).read_bytes()
        return made
    return make


def _launch() -> webob.Request:
    request = _request(_LAUNCH)
    request.method = 'POST'
    request.content_type = 'application/json'
    request.body = json.dumps({'server': {
        'name': 's', 'flavorRef': '1', 'imageRef': _IMAGE,
        'networks': 'none'}}).encode()
    return request


def _sent(
    application: types.WSGIApplication, request: webob.Request,
) -> bytes:
    response = request.get_response(application)
    assert response.status_code in (200, 202), response.text
    return response.body


def _request(path: str) -> webob.Request:
    return webob.Request.blank('/v2.1' + path, headers={
        'X-Project-Id': _PROJECT, 'X-Roles': 'reader,member',
        'OpenStack-API-Version': f'compute {_MICROVERSION}'})


def _start(host: str) -> str:
    """Write a server that runs on a host; return the server's uuid."""
    context = nova_context.RequestContext(
        user_id='u', project_id=_PROJECT, is_admin=True)
    uuid = uuidutils.generate_uuid()
    cell = objects.HostMapping.get_by_host(context, host).cell_mapping
    flavor = objects.Flavor(
        context, flavorid='1', name='m', vcpus=1, memory_mb=1, root_gb=1,
        ephemeral_gb=0, swap=0, rxtx_factor=1.0, vcpu_weight=0,
        disabled=False, is_public=True, extra_specs={})
    flavor.create()
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


def measure_made(
    place: Place, repeat: int, is_judged: bool,
) -> list[turns.Turns]:
    """Measure answers made before."""
    bodies = {'records in all servers': place.get(_WITHOUT, _LIST),
              'no records': place.get(_WITH, _LIST)}
    made = [place.hiding(body, name) for name, body in bodies.items()]
    for each in made:
        each.take(repeat, [turns.Bound(_WITH, _PARSED, _MOST_HIDDEN)]
                  if is_judged else [])
    made.append(place.launching())
    made[-1].take(repeat)
    return made


def measure(
    place: Place, repeat: int, is_judged: bool,
) -> list[turns.Turns]:
    """Measure Nova's own calls."""
    works = {f'GET {path}': (functools.partial(place.get, path=path), most)
             for path, most in CALLS.items()}
    works[f'POST {_LAUNCH}'] = place.launch, _LAUNCHED
    judged = []
    for what, (work, most) in works.items():
        calls = {name: functools.partial(work, name)
                 for name in (_WITHOUT, _WITH)}
        counts = {name: counting.least(call) for name, call in calls.items()}
        print(f'{what}:', *(f'{name}: {count}'
                            for name, count in counts.items()))
        assert counts[_WITH].sql <= counts[_WITHOUT].sql + _MOST_STATEMENTS
        judged.append(turns.Turns(what, {
            name: place.spender(call) for name, call in calls.items()}))
        judged[-1].take(repeat, [turns.Bound(_WITH, _WITHOUT, most)]
                        if is_judged else [])
    return judged


def main() -> int:
    """Measure, print a table, and fail when a call costs too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--servers', type=int, default=_SERVERS)
    parser.add_argument('--repeat', type=int, default=15)
    parser.add_argument('--json', type=pathlib.Path, metavar='FILE',
                        help='where to write what was measured')
    parser.add_argument('--made', action='store_true',
                        help='measure only answers made before')
    options = parser.parse_args()
    place = Place(options.servers)
    try:
        is_judged = options.servers >= _SERVERS
        made = measure_made(place, options.repeat, is_judged)
        judged = [] if options.made else measure(
            place, options.repeat, is_judged)
    finally:
        place.stop()
    print(turns.table(judged), turns.table(made), sep='\n\n')
    if options.json:
        suites.write(options.json, turns.seconds(judged + made))
    return turns.report_missed(judged + made)


if __name__ == '__main__':
    sys.exit(main())
