# SPDX-License-Identifier: Apache-2.0

"""Nova's API with Pcloud's filter and without, for benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import functools
import itertools
import json
import logging
import pathlib
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

from pcloud.rules.placing import hints
from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks import images
from pcloud.tests.benchmarks import meter
from pcloud.tests.concurrency import headers
from pcloud.tests.concurrency import neighbours
from pcloud_sandbox.configuration import paste

WITHOUT, WITH = 'without', 'with'
LIST, LAUNCH = '/servers/detail', '/servers'
# Servers with records, and servers with only what nova-api records for every
# server.
RECORDS, PLAIN = 'records in all servers', 'plain servers'
# From here on the multiples of times are judged.
SERVERS = 1000
# Further frames below a call: together they fill a piece of Python's stack.
_DEPTHS = range(0, 96, 8)

_PROJECT = 'a' * 32
# From here on Nova shows the hints of servers.
_MICROVERSION = '2.100'
_FILTERS = """
[filter:headers]
paste.filter_factory = {headers}:filter_factory
[filter:made]
paste.filter_factory = pcloud.tests.benchmarks.nova_api:made_factory
body = {body}
image = {image}
"""
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
        self._networks = neighbours.Networks()
        self._networks.setUp()
        glance = images.start(self._cloud)
        config.CONF.set_override('api_servers', [glance], 'glance')
        self._image = images.create(glance)
        config.CONF.set_override('max_limit', servers, 'api')
        config.CONF.set_override('instances', -1, 'quota')
        config.CONF.set_override('cores', -1, 'quota')
        config.CONF.set_override('ram', -1, 'quota')
        self._server = self._fill(servers)
        self._applications = self._load('headers')

    def stop(self) -> None:
        """Stop Placement and Glance, and drop the databases."""
        self._networks.cleanUp()
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
                (WITHOUT, stock, []),
                (WITH, stock + paste.FILTER, ['pcloud'])):
            path = self._cloud.folder / f'{name}-{first}-{len(rest)}.ini'
            path.write_text(text.replace(
                'authtoken keystonecontext',
                ' '.join([first, *between, *rest])) + _FILTERS.format(
                    headers=headers.__name__, body=self._body,
                    image=self._image))
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

    def recorded(self) -> dict[str, list[str]]:
        """Return the hints that the filter adds to a plain launch."""
        application = self.make(b'{}')[WITH]
        sent(application, self.launching())
        return json.loads(Made.asked).get('os:scheduler_hints', {})

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
        return sent(self._applications[name], request(
            path.replace('{id}', self._server)))

    def launch(self, name: str) -> None:
        """Start a server through one of the pipelines."""
        sent(self._applications[name], self.launching())

    def launching(self) -> webob.Request:
        """Return a request to start a server that nobody places."""
        made = request(LAUNCH)
        made.method = 'POST'
        made.content_type = 'application/json'
        made.body = json.dumps({'server': {
            'name': 's', 'flavorRef': '1', 'imageRef': self._image,
            'networks': 'none'}}).encode()
        return made

    def spender(self, call: Callable[[], object]) -> Callable[[], float]:
        """Return a function that makes a call: seconds of processor time.

        Python takes memory for its stack from the system in pieces, and
        whatever is called again and again where a piece ends takes half as
        long again. A filter more or less decides where that is, so each turn
        begins at another depth.
        """
        depths = itertools.cycle(_DEPTHS)

        def spend() -> float:
            with meter.without_collections():
                return self._meter.spent(functools.partial(
                    _at_depth, next(depths), call)).all
        return spend


def _at_depth(frames: int, call: Callable[[], object]) -> object:
    """Make a call below so many further frames."""
    return _at_depth(frames - 1, call) if frames else call()


def bodies(place: Place, servers: int) -> dict[str, bytes]:
    """Return what a list of servers is with hints that nova-api recorded.

    :param servers: the number of servers, each of which has all records
    :returns: with all records, and with those of servers that were started
        without anything of Pcloud
    """
    full = place.get(WITHOUT, LIST)
    written = [json.dumps(each).encode() for each in (
        _RECORDS, place.recorded())]
    assert full.count(written[0]) == servers
    return {RECORDS: full, PLAIN: full.replace(*written)}


def request(path: str) -> webob.Request:
    """Return a request to show something."""
    return webob.Request.blank('/v2.1' + path, headers={
        'X-Project-Id': _PROJECT, 'X-Roles': 'reader,member',
        'X-Project-Domain-Id': 'default', 'X-Auth-Token': 'token',
        'OpenStack-API-Version': f'compute {_MICROVERSION}'})


def sent(
    application: types.WSGIApplication, request: webob.Request,
) -> bytes:
    """Send a request; return the body of the answer.

    :raises: `AssertionError` when the call does not succeed
    """
    response = request.get_response(application)
    assert response.status_code in (200, 202), response.text
    return response.body


class Made(wsgi.Middleware):
    """Answers each request with a body that was made before.

    Nova reads the image of a launch, and so does this application.

    :param application: Nova's router, or a filter of Nova before the router
    :param body: the body of each answer
    :param image: the id of the image of each launch
    :ivar asked: the body of the last request of all
    """

    asked = b''

    def __init__(self, application: types.WSGIApplication, body: bytes,
                 image: str) -> None:
        super().__init__(application)
        self._body, self._image = body, image
        while not isinstance(application, wsgi.Router):
            application = application.application
        match = application.map.match(LAUNCH, {'REQUEST_METHOD': 'POST'})
        self._compute_api = match['controller'].controller.compute_api

    @webob.dec.wsgify
    def __call__(self, request: webob.Request) -> webob.Response:
        """Return the answer."""
        Made.asked = request.body
        if request.method == 'POST':
            self._compute_api.image_api.get(
                request.environ['nova.context'], self._image)
        return webob.Response(
            body=self._body, content_type='application/json')


def made_factory(
    global_conf: Mapping[str, str], body: str, image: str,
) -> Callable[[types.WSGIApplication], Made]:
    """Make the filter `Made`, as paste.deploy does.

    :param body: the path of the body
    :param image: as of `Made`
    """
    def make(application: types.WSGIApplication) -> Made:
        return Made(application, pathlib.Path(body).read_bytes(), image)
    return make


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
