# SPDX-License-Identifier: Apache-2.0

"""A fake cloud with canned answers, for both command lines."""

import contextlib
import io
import json
import logging
import typing

import fixtures
from keystoneauth1 import exceptions as ksa_exceptions
from keystoneauth1 import fixture as ksa_fixture
from keystoneauth1.identity import v3
from keystoneauth1 import session as ksa_session
from novaclient import shell as nova_shell
from openstackclient import shell as openstack_shell
from osc_lib import clientmanager
from requests_mock.contrib import fixture as requests_mock_fixture
import testtools

KEYSTONE = 'http://keystone.test/v3'
NOVA = 'http://nova.test/v2.1'
GLANCE = 'http://glance.test'
CINDER = 'http://cinder.test/v3'
NEUTRON = 'http://neutron.test'
PROJECT = 'a' * 32
OTHER_PROJECT = 'b' * 32
PCLOUD_ID = '11111111-1111-4111-8111-111111111111'
OTHER_ID = '22222222-2222-4222-8222-222222222222'
SERVER_1 = '33333333-3333-4333-8333-333333333333'
SERVER_2 = '44444444-4444-4444-8444-444444444444'

PCLOUD = {
    'id': PCLOUD_ID, 'name': 'farm', 'owner': PROJECT,
    'tenants': [PROJECT, OTHER_PROJECT], 'host_count': 2, 'units': 8,
    'cpu_allocation_ratio': 4.0, 'ram_allocation_ratio': None,
}
HOST = {
    'name': 'web-1', 'host_flavor': 'gold', 'availability_zone': 'az1',
    'state': 'disabled', 'status': 'up', 'instances': [SERVER_1, SERVER_2],
    'vcpus': 64, 'vcpus_used': 8, 'memory_mb': 262144,
    'memory_mb_used': 512, 'next_reboot': None, 'rack': 1, 'drain': None,
    'recovery': None,
    'maintenance': None,
}
FLAVOR = {
    'id': 'gold', 'description': '64 cores', 'units': 4, 'vcpus': 64,
    'memory_mb': 262144, 'disk_gb': 900, 'available': {'az1': 3, 'az2': 0},
    'settling': 1, 'resources': {'CUSTOM_NVME': 2},
    'traits': ['HW_CPU_X86_AVX'],
}
# What a host is, in the answers to calls that ask for hosts.
KIND = {'resources': {'CUSTOM_NVME': {'total': 2, 'used': 1}},
        'traits': ['HW_CPU_X86_AVX']}
POLICY = {
    'scope': 'pcloud', 'id': PCLOUD_ID, 'constraints': 'ram=2G rack=r1',
    'customer_keys': ['A=1:1', 'B=2:-1'],
}
EFFECTIVE = [
    {'key': 'cpu', 'value': '1', 'source': 'built-in'},
    {'key': 'rack', 'value': None, 'source': 'cloud'},
    {'key': 'ram', 'value': '2G', 'source': 'role big one'},
]
# Options of a default Pcloud, and what both command lines say of them.
MISPLACED_GROWTH = (
    ('--mode grow', '--mode grow needs --grow-flavor and --max-hosts'),
    ('--mode grow --max-hosts 5',
     '--mode grow needs --grow-flavor and --max-hosts'),
    ('--grow-flavor gold --max-hosts 5',
     '--grow-flavor, --max-hosts: only for --mode grow, not for --mode '
     'strict'),
    ('--mode prefer --availability-zone az1',
     '--availability-zone: only for --mode grow, not for --mode prefer'))
QUOTA = {'units': {'limit': 10, 'in_use': 4}}

# What keystoneauth raises where nothing answers.
GONE = ksa_exceptions.ConnectFailure('gone')

_CREDENTIALS = (
    '--os-auth-url', KEYSTONE, '--os-username', 'user', '--os-password',
    'secret', '--os-project-name', 'own', '--os-user-domain-id', 'default',
    '--os-project-domain-id', 'default')


def not_explained(filter_: str) -> dict:
    """Return what the API says of a filter without reasons."""
    return {'text': f'{filter_} gives no reason',
            'code': 'filter_unexplained', 'params': {'filter': filter_}}


class Result(typing.NamedTuple):
    """The status and the output of a command."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        """The decoded output of a command that printed JSON."""
        return json.loads(self.out)


class Call(typing.NamedTuple):
    """A request that the compute API got."""

    method: str
    path: str
    query: dict
    body: object


class Clock:
    """A clock that advances only while a caller sleeps.

    :ivar naps: the seconds of each sleep
    :ivar at_nap: function that is called at each sleep, or None
    """

    def __init__(self):
        self.now = 100.0
        self.naps = []
        self.at_nap = None

    def monotonic(self):
        """Return the clock's time."""
        return self.now

    def sleep(self, seconds):
        """Advance the clock's time."""
        self.naps.append(seconds)
        if self.at_nap:
            self.at_nap()
        self.now += seconds


class CloudTestCase(testtools.TestCase):
    """Keystone accepts every user; each test sets Nova's answers."""

    def setUp(self):
        super().setUp()
        # OpenStackClient caches clients for a process, which normally runs a
        # single command.
        for cache in vars(clientmanager.ClientManager).values():
            if isinstance(cache, clientmanager.ClientCache):
                cache._handle = None
        self.http = self.useFixture(requests_mock_fixture.Fixture())
        self._offer_keystone()
        version = ksa_fixture.discovery.MicroversionDiscovery(
            href=NOVA + '/', id='v2.1', status='CURRENT',
            min_version='2.1', max_version='2.104')
        version['version'] = version['max_version']
        self.http.get(NOVA + '/', json={'version': version})
        self.http.get(NOVA, json={'version': version})

    def _offer_keystone(self):
        token = ksa_fixture.V3Token(project_id=PROJECT, project_name='own')
        token.add_service('compute').add_standard_endpoints(
            public=NOVA, region='RegionOne')
        token.add_service('image').add_standard_endpoints(
            public=GLANCE, region='RegionOne')
        token.add_service('block-storage').add_standard_endpoints(
            public=CINDER, region='RegionOne')
        token.add_service('network').add_standard_endpoints(
            public=NEUTRON, region='RegionOne')
        token.add_service('identity').add_standard_endpoints(
            public=KEYSTONE, region='RegionOne')
        self.http.get(KEYSTONE, json={
            'version': ksa_fixture.V3Discovery(KEYSTONE)})
        self.http.post(KEYSTONE + '/auth/tokens', json=token,
                       headers={'X-Subject-Token': 'token'})

        self.answer_projects({}, {'status_code': 403, 'json': {
            'error': {'code': 403, 'message': 'no'}}})

    def answer_projects(self, of_caller, of_everybody=None):
        """Set Keystone's answers about the projects' names.

        :param of_caller: id -> name of the projects of the caller
        :param of_everybody: the answer to the list of all projects
        """
        self.http.get(f'{KEYSTONE}/auth/projects', json={'projects': [
            {'id': project_id, 'name': name}
            for project_id, name in of_caller.items()]})
        if of_everybody is not None:
            self.http.get(f'{KEYSTONE}/projects', **of_everybody)

    def session(self):
        """Return a session of a user who has logged in."""
        return ksa_session.Session(v3.Password(
            KEYSTONE, username='user', password='secret',
            project_name='own', user_domain_id='default',
            project_domain_id='default'))

    def answer(self, method, path, *answers, **answer):
        """Set Nova's answer to a call, or several answers in turn."""
        return self.http.register_uri(
            method, NOVA + path, list(answers) or [answer])

    def answer_pclouds(self, *pclouds):
        """Answer the list of Pclouds with a single page."""
        def page(request, _context):
            after_first = 'marker' in request.qs
            return {'pclouds': [] if after_first else list(pclouds)}
        return self.answer('GET', '/os-pclouds', json=page)

    def answer_farm(self):
        """Answer the list of Pclouds with the Pcloud farm."""
        self.answer_pclouds(PCLOUD)

    def calls(self):
        """Return all calls of Pcloud's API so far, in order."""
        calls = []
        for request in self.http.request_history:
            path = request.url.partition('?')[0]
            if path.startswith(NOVA + '/os-'):
                calls.append(Call(
                    request.method, path.removeprefix(NOVA), request.qs,
                    json.loads(request.text) if request.text else None))
        return calls

    def last_call(self):
        """Return the last call's method, path and body."""
        method, path, _query, body = self.calls()[-1]
        return method, path, body

    def changes(self):
        """Return the method and path of each call that is not a GET."""
        return [(call.method, call.path) for call in self.calls()
                if call.method != 'GET']

    def openstack(self, *args):
        """Run the openstack command line."""
        with _captured() as (out, err):
            try:
                status = openstack_shell.OpenStackShell().run(
                    [*_CREDENTIALS, *args])
            except SystemExit as leave:
                status = leave.code
        return Result(status, out.getvalue(), err.getvalue())

    def nova(self, *args):
        """Run the nova command line, as its main function does."""
        with _captured() as (out, err):
            try:
                nova_shell.main([*_CREDENTIALS, *args])
                status = 0
            except SystemExit as leave:
                status = leave.code
        lines = err.getvalue().splitlines(keepends=True)
        return Result(status, out.getvalue(), ''.join(
            line for line in lines if 'nova CLI is deprecated' not in line))

    def assert_one_line(self, text, result):
        """Assert that a command failed with a single line with a text."""
        self.assertEqual(1, result.status)
        self.assertEqual('', result.out)
        self.assertIn(text, result.err)
        self.assertEqual(1, result.err.count('\n'), result.err)


@contextlib.contextmanager
def _captured():
    """Capture the streams; drop the log handlers that a shell leaves."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    out, err = io.StringIO(), io.StringIO()
    with (fixtures.MonkeyPatch('sys.stdout', out),
          fixtures.MonkeyPatch('sys.stderr', err)):
        try:
            yield out, err
        finally:
            root.handlers[:] = handlers
            root.setLevel(level)


def table(text):
    """Read the cells of a printed table, a list for each row."""
    return [[cell.strip() for cell in line.strip('|').split('|')]
            for line in text.splitlines() if line.startswith('|')]


def properties(text):
    """Read a printed table of two columns as a dict."""
    return dict(row for row in table(text)[1:])
