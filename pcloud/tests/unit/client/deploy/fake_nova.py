# SPDX-License-Identifier: Apache-2.0

"""A Nova and a Glance with servers that come and go, behind HTTP."""

import re
import uuid

import fixtures

from pcloud.backend.cells import started_servers
from pcloud.tests.unit.client import base

SMALL = {'id': '1', 'name': 'small', 'vcpus': 1, 'ram': 512, 'disk': 1,
         'extra_specs': {}}
LARGE = {'id': '4', 'name': 'large', 'vcpus': 4, 'ram': 4096, 'disk': 20,
         'extra_specs': {'pcloud:co_located': 'allow'}}
NEVER = {**LARGE, 'id': '5', 'name': 'never',
         'extra_specs': {'pcloud:co_located': 'never'}}
IMAGES = (
    {'id': str(uuid.uuid5(uuid.NAMESPACE_DNS, 'plain')), 'name': 'plain'},
    {'id': str(uuid.uuid5(uuid.NAMESPACE_DNS, 'part')), 'name': 'part',
     'pcloud_co_located': 'allow', 'pcloud_consumes': 'metrics, db'},
    {'id': str(uuid.uuid5(uuid.NAMESPACE_DNS, 'only')), 'name': 'only',
     'pcloud_co_located': 'always'},
    {'id': str(uuid.uuid5(uuid.NAMESPACE_DNS, 'wrong')), 'name': 'wrong',
     'pcloud_co_located': 'Allow'},
    {'id': str(uuid.uuid5(uuid.NAMESPACE_DNS, 'queued')), 'name': 'queued',
     'status': 'queued'},
    {'id': str(uuid.uuid5(uuid.NAMESPACE_DNS, 'big')), 'name': 'big',
     'min_ram': 1024},
    {'id': str(uuid.uuid5(uuid.NAMESPACE_DNS, 'volume')), 'name': 'volume',
     'min_disk': 50, 'pcloud_co_located': 'allow', 'block_device_mapping': (
         '[{"boot_index": 0, "destination_type": "volume", '
         '"source_type": "snapshot", "snapshot_id": "s"}]')},
    {'id': str(uuid.uuid5(uuid.NAMESPACE_DNS, 'twin1')), 'name': 'twin'},
    {'id': str(uuid.uuid5(uuid.NAMESPACE_DNS, 'twin2')), 'name': 'twin'},
)
ROOM = '/os-pcloud-room'
_UNLIMITED = {'maxTotalInstances': -1, 'totalInstancesUsed': 3,
              'maxTotalCores': -1, 'totalCoresUsed': 3,
              'maxTotalRAMSize': -1, 'totalRAMUsed': 3}
_SERVER = re.compile('^' + re.escape(base.NOVA) + '/servers/(?!detail)[^/?]+$')
_ACTION = re.compile('^' + re.escape(base.NOVA) + '/servers/[^/]+/action$')
_METADATA = re.compile(
    '^' + re.escape(base.NOVA) + '/servers/[^/]+/metadata/[^/]+$')
_ALL_METADATA = re.compile(
    '^' + re.escape(base.NOVA) + '/servers/[^/]+/metadata$')
_INTERFACES = re.compile(
    '^' + re.escape(base.NOVA) + '/servers/[^/]+/os-interface$')
_FLAVOR = re.compile('^' + re.escape(base.NOVA) + '/flavors/[^/?]+$')
_VOLUME = re.compile(
    '^' + re.escape(base.CINDER) + '/volumes/(?!detail)[^/?]+$')
_IMAGE = re.compile('^' + re.escape(base.GLANCE) + '/v2/images/[^/?]+$')


def image_id(name):
    """Return the id of the first image with a name."""
    return next(each['id'] for each in IMAGES if each['name'] == name)


def server_id(name):
    """Return the id of servers with a name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


class ServersTestCase(base.CloudTestCase):
    """Servers are building until they were looked at once, and so on.

    :ivar servers: id -> body
    :ivar done: the events so far: (verb, name of a server)
    :ivar created: the bodies of requests that create servers
    :ivar faults: name of a server -> message of the server's fault
    :ivar surprises: (verb, name of a server) -> an exception to raise once,
        (status, message) to answer, or a function to call
    :ivar stuck: (verb, name of a server) of actions that never end
    :ivar page: number of servers in a page of the list
    """

    def setUp(self):
        super().setUp()
        self.clock = base.Clock()
        for waiting in ('server_runs', 'waits'):
            self.useFixture(fixtures.MonkeyPatch(
                f'pcloud.client.deploy.{waiting}.time', self.clock))
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud.client.deploy.services.stamp', self._created))
        self.servers, self.done, self.created = {}, [], []
        self.faults, self.surprises, self.stuck = {}, {}, set()
        self.limits = dict(_UNLIMITED)
        self.networks = []
        self._coming, self._hosts = {}, 0
        self.page, self._seconds = 1000, 0
        self.answer_pclouds(base.PCLOUD)
        self._answer_flavors()
        self._answer_images()
        self.have_room(1000)
        self.answer('GET', '/os-pcloud-hidden-servers', json=self._hidden)
        self.have_default(None, None)
        for method, path, answer in (
                ('GET', f'{base.NOVA}/servers/detail', self._list),
                ('GET', f'{base.NOVA}/limits', self._limits),
                ('POST', f'{base.NOVA}/servers', self._create),
                ('POST', _ACTION, self._stop),
                ('DELETE', _SERVER, self._delete),
                ('GET', _SERVER, self._get),
                ('DELETE', _METADATA, self._delete_metadata),
                ('POST', _ALL_METADATA, self._add_metadata),
                ('GET', _INTERFACES, self._interfaces)):
            self.http.register_uri(method, path, json=answer)

    def started(self, server):
        """Return what a server was started with, as a worker reads it."""
        return started_servers.Start(
            (self.servers[server]['image'] or {}).get('id', ''))

    def have_default(self, pcloud, mode):
        """Set the default Pcloud of the project."""
        path = f'/os-pcloud-policies/project/{base.PROJECT}'
        self.answer('GET', path, json={
            'policy': {'default_pcloud': pcloud and {
                'pcloud': pcloud, 'mode': mode},
                'default_pcloud_source': 'project'}})

    def have(self, name, service=None, host='h1', status='ACTIVE',
             metadata=None, image='part', **hints):
        """Add a server to the cloud; return the server's id."""
        hints = {key.rstrip('_'): value if isinstance(value, list)
                 else [value] for key, value in hints.items()}
        if service:
            hints['service'] = [service]
        self.servers[server_id(name)] = {
            'id': server_id(name), 'name': name, 'status': status,
            'hostId': host, 'scheduler_hints': hints,
            'metadata': metadata or {}, 'image': {'id': image_id(image)},
            'flavor': {'original_name': 'small'},
            'created': self._created()}
        return server_id(name)

    def have_room(self, groups, reason=None, **query):
        """Set the capacity for groups of servers.

        :param groups: the number of groups that fit
        :param query: parameters of the queries that the capacity holds for;
            other queries have capacity for 1000 groups
        """
        def answer(request, _context):
            if any(request.qs.get(name.rstrip('_')) != [value]
                   for name, value in query.items()):
                groups_now, reason_now = 1000, None
            else:
                groups_now, reason_now = groups, reason
            most = int(request.qs['count'][0])
            return {'room': {
                'groups': min(groups_now, most),
                'reason': reason_now if groups_now < most else None}}
        self.answer('GET', ROOM, json=answer)

    def asked_for_room(self):
        """Return the queries that asked for capacity, in order."""
        return [{name: values if name == 'flavor' else values[0]
                 for name, values in call.query.items()}
                for call in self.calls() if call.path == ROOM]

    def come(self):
        """Let all servers reach the states that they come to."""
        for server_id, coming in self._coming.items():
            while coming and server_id in self.servers:
                self._become(self.servers[server_id], coming.pop(0))

    def names(self):
        """Return the names of all existing servers."""
        return sorted(each['name'] for each in self.servers.values())

    def hints(self, name):
        """Return the hints with which a server was created."""
        return next(body['os:scheduler_hints'] for body in self.created
                    if body['server']['name'] == name)

    def _surprise(self, verb, name, context):
        found = self.surprises.get((verb, name))
        if isinstance(found, tuple):
            context.status_code = found[0]
            return {'error': {'code': found[0], 'message': found[1]}}
        if isinstance(found, BaseException):
            raise self.surprises.pop((verb, name))
        return found() if found else None

    def _created(self):
        self._seconds += 1
        return f'2026-01-01T00:{self._seconds // 60:02}:' + (
            f'{self._seconds % 60:02}Z')

    def _list(self, request, _context):
        assert request.headers['OpenStack-API-Version'] == 'compute 2.100'
        assert set(request.qs) <= {'marker'}
        found = list(self.servers.values())
        if 'marker' in request.qs:
            ids = [each['id'] for each in found]
            found = [each for each in found[
                ids.index(request.qs['marker'][0]) + 1:]
                if each['status'] != 'UNKNOWN']
        page = {'servers': found[:self.page]}
        if len(found) >= self.page:
            page['servers_links'] = [{'rel': 'next', 'href': 'elsewhere'}]
        return page

    def _hidden(self, _request, _context):
        return {'hidden_servers': [
            each['id'] for each in self.servers.values()
            if each['status'] == 'UNKNOWN']}

    def _limits(self, _request, _context):
        return {'limits': {'absolute': self.limits}}

    def _create(self, request, context):
        body = request.json()
        name = body['server']['name']
        self.created.append(body)
        self.done.append(('create', name))
        answer = self._surprise('create', name, context)
        if answer:
            return answer
        hints = {key: value if isinstance(value, list) else [value]
                 for key, value in body['os:scheduler_hints'].items()}
        flavor = next(each for each in (SMALL, LARGE, NEVER)
                      if each['id'] == body['server']['flavorRef'])
        self.servers[server_id(name)] = {
            'id': server_id(name), 'name': name, 'status': 'BUILD',
            'hostId': '', 'scheduler_hints': hints,
            'metadata': body['server']['metadata'],
            'image': {'id': body['server']['imageRef']},
            'flavor': {'original_name': flavor['name']},
            'created': self._created()}
        self._coming[server_id(name)] = ['BUILD', 'ACTIVE']
        self._surprise('created', name, context)
        context.status_code = 202
        return {'server': {'id': server_id(name)}}

    def _get(self, request, context):
        found = self.servers.get(request.path.rsplit('/', 1)[-1])
        if found is None:
            context.status_code = 404
            return {'itemNotFound': {'code': 404, 'message': 'not found'}}
        name = found['name']
        answer = self._surprise('get', name, context)
        if answer:
            return answer
        coming = self._coming.get(found['id'], [])
        if coming and (coming[-1], name) not in self.stuck:
            self._become(found, coming.pop(0))
        return {'server': found}

    def _interfaces(self, _request, _context):
        return {'interfaceAttachments': [
            {'net_id': each} for each in self.networks]}

    def _become(self, server, status):
        if status == server['status']:
            return
        if status == 'ACTIVE' and server['name'] in self.faults:
            server['status'] = 'ERROR'
            server['fault'] = {'code': 500,
                               'message': self.faults[server['name']]}
            return
        if status == 'GONE':
            del self.servers[server['id']]
        elif status == 'ACTIVE':
            server['hostId'] = self._choose_host(server['scheduler_hints'])
        if status != 'DELETED':
            self.done.append((status.lower(), server['name']))
        server['status'] = status

    def _choose_host(self, hints):
        for named in hints.get('beside', []) + hints.get('in', []):
            for each in self.servers.values():
                if named in (each['id'],
                             *each['scheduler_hints'].get('service', [])):
                    return each['hostId']
        self._hosts += 1
        return f'new-{self._hosts}'

    def _stop(self, request, context):
        assert request.json() == {'os-stop': None}
        found = self.servers[request.path.split('/')[-2]]
        self.done.append(('stop', found['name']))
        answer = self._surprise('stop', found['name'], context)
        if answer:
            return answer
        self._coming[found['id']] = ['ACTIVE', 'SHUTOFF']
        context.status_code = 202
        return None

    def _delete(self, request, context):
        found = self.servers.get(request.path.rsplit('/', 1)[-1])
        if found is None:
            context.status_code = 404
            return {'itemNotFound': {'code': 404, 'message': 'not found'}}
        self.done.append(('delete', found['name']))
        answer = self._surprise('delete', found['name'], context)
        if answer:
            return answer
        # Nova shows it as DELETED for a moment before it gives its capacity
        # back.
        self._coming[found['id']] = ['DELETED', 'GONE']
        context.status_code = 204
        return None

    def _add_metadata(self, request, context):
        found = self.servers[request.path.split('/')[-2]]
        answer = self._surprise('mark', found['name'], context)
        if answer:
            return answer
        found['metadata'] = {
            **found['metadata'], **request.json()['metadata']}
        return {'metadata': found['metadata']}

    def _delete_metadata(self, request, context):
        *_, server, _, key = request.path.split('/')
        found = self.servers[server]
        context.status_code = 204
        answer = self._surprise('unmark', found['name'], context)
        if not answer:
            del found['metadata'][key]
        return answer

    def _answer_flavors(self):
        flavors = {each['id']: each for each in (SMALL, LARGE, NEVER)}

        def one(request, context):
            found = flavors.get(request.path.rsplit('/', 1)[-1])
            if found is None:
                context.status_code = 404
                return {'itemNotFound': {'code': 404, 'message': 'no'}}
            return {'flavor': found}

        def several(request, _context):
            return {'flavors': [] if 'marker' in request.qs else [
                {'id': each['id'], 'name': each['name']}
                for each in flavors.values()]}
        self.http.get(_FLAVOR, json=one)
        self.http.get(f'{base.NOVA}/flavors', json=several)

    def answer_volumes(self, *volumes):
        """Have Cinder know volumes: id, name, id of the image or None."""
        known = {volume_id: {
            'id': volume_id, 'name': name, 'volume_image_metadata': (
                {'image_id': image} if image else {})}
            for volume_id, name, image in volumes}
        for address in (base.CINDER, base.CINDER + '/'):
            self.http.get(address, json={'versions': [{
                'id': 'v3.0', 'status': 'CURRENT', 'version': '3.70',
                'min_version': '3.0', 'links': [
                    {'rel': 'self', 'href': f'{base.CINDER}/'}]}]})

        def one(request, context):
            found = known.get(request.path.rsplit('/', 1)[-1])
            context.status_code = 200 if found else 404
            return {'volume': found} if found else {}

        self.http.get(_VOLUME, json=one)
        for path in ('volumes', 'volumes/detail'):
            self.http.get(f'{base.CINDER}/{path}', json=lambda request, _: {
                'volumes': [each for each in known.values()
                            if each['name'] in request.qs.get(
                                'name', [each['name']])]})

    def _answer_images(self):
        images = [{'status': 'active', 'min_ram': 0, 'min_disk': 0, **each}
                  for each in IMAGES]

        def one(request, context):
            wanted = request.path.rsplit('/', 1)[-1]
            found = [each for each in images if each['id'] == wanted]
            if not found:
                context.status_code = 404
                return {'message': 'no image'}
            return found[0]

        def several(request, _context):
            name = request.qs.get('name', [''])[0]
            return {'images': [each for each in images
                               if each['name'] == name]}
        versions = {'versions': [{
            'id': 'v2.9', 'status': 'CURRENT',
            'links': [{'rel': 'self', 'href': f'{base.GLANCE}/v2/'}]}]}
        for address in (base.GLANCE, base.GLANCE + '/'):
            self.http.get(address, json=versions, status_code=300)
        self.http.get(_IMAGE, json=one)
        self.http.get(f'{base.GLANCE}/v2/images', json=several)
