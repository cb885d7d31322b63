# SPDX-License-Identifier: Apache-2.0

"""What is judged in front of Nova is what Nova executes, however spelled.

Thousands of spellings go through Nova's real pipelines as far as the dispatch
to a controller, where they are written down and answered.
"""

import collections
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import io
import itertools
import json
import pathlib
import typing
import urllib.parse

import fixtures
from nova.api.openstack import api_version_request
from nova.api.openstack import wsgi as nova_wsgi
from nova.api import wsgi as base_wsgi
import webob

from pcloud.api import wsgi
from pcloud.rules.placing import hints as hint_rules
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud
from pcloud_sandbox.configuration import paste

SERVER = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'
LAST_WITH_FORCE = api_version_request.APIVersionRequest('2.67')
DISPATCHED = 299
HINTS = ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints')
RECORD = hint_rules.CUSTOMER_RECORD


@dataclasses.dataclass(frozen=True)
class Target:
    """A call of Nova's that we look at.

    :ivar good: what the call may say
    :ivar bad: what it may not
    :ivar body: the two in a body
    :ivar said: which of them Nova was told
    """

    method: str
    path: str
    user: str
    good: str
    bad: str
    body: Callable[[str], dict]
    said: Callable[[dict], object]

    def is_bad(
        self, version: api_version_request.APIVersionRequest, body: object,
    ) -> bool:
        """Whether Nova may not be told this.

        A host that is named is bad as long as naming one can force it.
        """
        try:
            said = self.said(body)
        except (KeyError, TypeError):
            return False
        return said == self.bad and (
            'action' not in self.path or 'servers' not in self.path or
            version <= LAST_WITH_FORCE)


def _server(name: str) -> Callable[[str], dict]:
    return lambda said: {
        'server': {'name': 'a', 'flavorRef': '1', 'imageRef': ''},
        name: {'constraints': said}}


def _move(action: str) -> Callable[[str], dict]:
    return lambda host: {action: {
        'host': host, 'force': True, 'block_migration': False}}


TARGETS = [
    Target('POST', '/servers', 'alice', 'ram=1G', 'host=node-1',
           _server('os:scheduler_hints'),
           lambda body: body['os:scheduler_hints']['constraints']),
    Target('POST', '/os-volumes_boot', 'alice', 'ram=1G', 'host=node-1',
           _server('OS-SCH-HNT:scheduler_hints'),
           lambda body: body['OS-SCH-HNT:scheduler_hints']['constraints']),
    Target('POST', '/os-aggregates/1/action', 'admin',
           '2031-05-06T00:00:00+00:00', 'soon',
           lambda said: {'set_metadata': {'metadata': {
               'pcloud:attr:next_reboot': said}}},
           lambda body: body['set_metadata']['metadata'][
               'pcloud:attr:next_reboot']),
    Target('POST', '/flavors/1/os-extra_specs', 'admin', 'always', 'perhaps',
           lambda said: {'extra_specs': {'pcloud:co_located': said}},
           lambda body: body['extra_specs']['pcloud:co_located']),
    Target('PUT', '/flavors/1/os-extra_specs/pcloud:co_located', 'admin',
           'always', 'perhaps',
           lambda said: {'pcloud:co_located': said},
           lambda body: body['pcloud:co_located']),
    Target('POST', f'/servers/{SERVER}/action', 'admin',
           'node-2', 'node-1', _move('os-migrateLive'),
           lambda body: body['os-migrateLive']['host']),
    Target('POST', f'/servers/{SERVER}/action', 'admin',
           'node-2', 'node-1', _move('evacuate'),
           lambda body: body['evacuate']['host']),
]

ORDERS = ['legacy_v2_compatible pcloud', 'pcloud legacy_v2_compatible']
PREFIXES = ['/v2.1', '/v2']
PROJECTS = ['', '/<own>', '/' + base.BOB]

# Method and query; '<it>' is the method that Nova has the call under.
METHODS = [
    ('<it>', ''), ('<other>', '_method=<it>'), ('GET', '_method=<it>'),
    ('PATCH', '_method=<it>'), ('DELETE', '_method=<it>'),
    ('<it>', '_method=<other>'), ('<it>', '_method=DELETE'),
    ('<it>', '_method='), ('<it>', '_method=BREW'),
    ('<other>', '_method=<it>&a=b'), ('<other>', 'a=_method&_method=<it>'),
    ('<other>', '_method=GET&_method=<it>'),
    ('<other>', '_method=<it>&_method=GET'), ('<other>', '%5Fmethod=<it>'),
    ('<other>', '_method=%50<it>'), ('<other>', '_method=<it>%ff'),
    ('<other>', '_method=<it>;a=b'), ('<other>', '_method=+<it>'),
    ('<other>', '%5fmethod=GET&a=_method'), ('<it>', '%ff=_method'),
    ('<other>', '_Method=<it>'), ('<OTHER>', '_method=<it lower>'),
    ('<it lower>', ''), ('<it lower>', '_method=<it lower>')]

# The first letter of the path's last part is '?' here.
SUFFIXES = ['', '/', '//', '.json', '.xml', '%0a', '%0A/', '%20', '%2f',
            '%00', ';a=b', '?', '#', '%c3%a4', '%ff', '/action']

_NEW, _OLD = 'OpenStack-API-Version', 'X-OpenStack-Nova-API-Version'
VERSIONS = [
    {}, {_OLD: '2.1'}, {_OLD: '2.29'}, {_OLD: '2.67'}, {_OLD: '2.90'},
    {_OLD: 'latest'}, {_OLD: 'x'}, {_OLD: '2.999'}, {_OLD: '1.0'},
    {_OLD: ''}, {_OLD: '2.90,2.29'}, {_OLD: '2.29, 2.90'},
    {_NEW: 'compute 2.29'}, {_NEW: 'compute 2.90'}, {_NEW: 'compute latest'},
    {_NEW: 'COMPUTE 2.90'}, {_NEW: '2.90'}, {_NEW: 'nova 2.90'},
    {_NEW: 'compute 2.29,compute 2.90'}, {_NEW: 'compute 2.90, compute 2.29'},
    {_NEW: 'placement 1.9, compute 2.90'}, {_NEW: 'compute 02.090'},
    {_NEW: 'compute 2.29', _OLD: '2.90'}, {_NEW: 'compute 2.90', _OLD: '2.1'}]

ENCODINGS = ['utf-8', 'utf-8-sig', 'utf-16', 'utf-16-le', 'utf-32-be',
             'latin-1']

TYPES = ['application/json', None, '', 'text/plain', 'text/html',
         'application/json; charset=utf-16', 'Application/JSON',
         'application/json;version=2.1', ' application/json',
         'application/vnd.openstack.compute+json',
         'application/x-www-form-urlencoded',
         'application/x-www-form-urlencoded; charset=utf-8',
         'multipart/form-data; boundary=x', 'text/plain, application/json']


def _twice(one: dict, other: dict) -> str:
    """Return a body with every member twice."""
    return f'{json.dumps(one)[:-1]}, {json.dumps(other)[1:]}'


# How a body is written that says `this`, and perhaps `that` too.
BODIES = [
    lambda this, that: json.dumps(this),
    lambda this, that: json.dumps({**this, 'ä': 'ä'}, ensure_ascii=False),
    lambda this, that: _twice(this, that),
    lambda this, that: _twice(that, this),
    lambda this, that: json.dumps(this).replace('o', '\\u006f'),
    lambda this, that: '\n\t ' + json.dumps(this) + '\r\n',
    lambda this, that: json.dumps(this) + '\0',
    lambda this, that: json.dumps(this) + json.dumps(that),
    lambda this, that: json.dumps([this]),
    lambda this, that: json.dumps(this)[:-1] + ', "a": NaN}',
    lambda this, that: json.dumps(this)[:-1] + ', "a": 1e999}',
    lambda this, that: json.dumps(this)[:-1] + ', "a": "\\ud800"}',
    lambda this, that: json.dumps(this)[:-1] + ', "a": ' + '[' * 5000,
    lambda this, that: '_method=POST&' + json.dumps(this),
    lambda this, that: '']

LENGTHS = ['told', 'chunked', 'not told']

# The first of each is what everybody sends.
DIMENSIONS = {
    'target': TARGETS, 'word': ['bad', 'good'], 'order': ORDERS,
    'prefix': PREFIXES, 'project': PROJECTS, 'method': METHODS,
    'suffix': SUFFIXES, 'version': VERSIONS, 'encoding': ENCODINGS,
    'type': TYPES, 'body': BODIES, 'length': LENGTHS}

# Of these all combinations are sent, of all others each pair.
TOGETHER = [('target', 'order', 'prefix', 'version'),
            ('target', 'order', 'prefix', 'method'),
            ('target', 'prefix', 'project', 'suffix'),
            ('target', 'word', 'body', 'encoding')]


def spellings() -> Iterator[Mapping]:
    """Yield every call to send, by the names of `DIMENSIONS`."""
    usual = {name: values[0] for name, values in DIMENSIONS.items()}
    turn = itertools.cycle(TARGETS)
    for names in TOGETHER:
        for values in itertools.product(*map(DIMENSIONS.get, names)):
            yield usual | dict(zip(names, values))
    for pair in itertools.combinations(DIMENSIONS, 2):
        for values in itertools.product(*map(DIMENSIONS.get, pair)):
            yield usual | {'target': next(turn)} | dict(zip(pair, values))


class Executed(typing.NamedTuple):
    """What Nova was about to do."""

    resource: nova_wsgi.Resource
    function: Callable
    version: api_version_request.APIVersionRequest
    arguments: dict
    body: object


class PipelinesTestCase(shared_cloud.SharedCloudTestCase):
    """One host is kept for Pclouds; no server is there."""

    hosts: dict[str, str] = {}

    def setUp(self):
        super().setUp()
        self.judged, self.executed = [], []
        self._watch()

    def furnish(self):
        super().furnish()
        self.make_aggregate('Pcloud:host_flavor:gpu')
        self.aggregate('Pcloud:host_flavor:gpu').add_host('node-1')
        self.admin.call_json(
            'PUT', f'/os-pcloud-policies/project/{base.ALICE}',
            {'policy': {'customer_keys': ['A=1:1']}})
        self.pipelines = self._pipelines()

    def _pipelines(self):
        """Return Nova's API with the two filters in both orders."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        original = paste.installed(
            'nova', 'etc/nova/api-paste.ini').read_text()
        text = paste.with_pcloud(original)
        last, first = ORDERS
        self.assertIn(last, text)
        found = {}
        for order in ORDERS:
            path = folder / f'{order}.ini'
            path.write_text(text.replace(last, order))
            found[order] = base_wsgi.Loader(str(path)).load_app(
                'osapi_compute')
        return found

    def _watch(self):
        """Write down what is judged and what is executed."""
        check = wsgi.Middleware._check

        def judge(middleware, call):
            self.judged.append(call)
            check(middleware, call)

        def execute(resource, function, request, arguments):
            body = arguments.pop('body', None)
            self.executed.append(Executed(
                resource, function, request.api_version_request, arguments,
                body))
            return webob.Response(status=DISPATCHED)

        self.useFixture(fixtures.MockPatchObject(
            wsgi.Middleware, '_check', judge))
        self.useFixture(fixtures.MockPatchObject(
            nova_wsgi.Resource, 'dispatch', execute))

    def _send(self, order, method, path, user, data, headers, **more):
        """Send a request as a web server would hand it to the pipeline."""
        path, _, query = path.partition('?')
        environ = webob.Request.blank('/', headers={
            'X-Auth-User': user, 'X-User-Id': user,
            'X-Auth-Project-Id': self._project(user),
            'X-Roles': 'reader,member' + ',admin' * (user == 'admin'),
            **headers}).environ
        environ.update({
            'REQUEST_METHOD': method, 'QUERY_STRING': query,
            'PATH_INFO': urllib.parse.unquote_to_bytes(
                path).decode('latin-1'),
            'wsgi.input': io.BytesIO(data), 'CONTENT_LENGTH': str(len(data)),
            **more})
        if environ['CONTENT_LENGTH'] is None:
            del environ['CONTENT_LENGTH']
        self.judged.clear()
        self.executed.clear()
        return webob.Request(environ).get_response(self.pipelines[order])

    def _project(self, user):
        return base.CAROL if user == 'admin' else base.ALICE


class NovaCallsTest(PipelinesTestCase):
    """What is judged is executed, and nothing else is."""

    def _spell(self, spelling):
        target = spelling['target']
        method, query = (
            self._method(target, each) for each in spelling['method'])
        project = spelling['project'].replace(
            '<own>', self._project(target.user))
        this, that = target.body(target.bad), target.body(target.good)
        if spelling['word'] == 'good':
            this, that = that, this
        headers = dict(spelling['version'])
        if spelling['type'] is not None:
            headers['Content-Type'] = spelling['type']
        more = {'chunked': {'CONTENT_LENGTH': None,
                            'wsgi.input_terminated': True},
                'not told': {'CONTENT_LENGTH': None},
                'told': {}}[spelling['length']]
        data = spelling['body'](this, that).encode(spelling['encoding'])
        suffix = spelling['suffix']
        path = (spelling['prefix'] + project + target.path + suffix +
                f'{"&" if "?" in suffix else "?"}{query}')
        return self._send(spelling['order'], method, path, target.user,
                          data, headers, **more)

    def _method(self, target, text):
        other = 'PUT' if target.method == 'POST' else 'POST'
        for name, value in (('<it>', target.method), ('<other>', other),
                            ('<OTHER>', other),
                            ('<it lower>', target.method.lower())):
            text = text.replace(name, value)
        return text

    def _leaked(self, spelling):
        """Return what Nova was told that it may not be told."""
        target = spelling['target']
        return [each for each in self.executed
                if each.function.__qualname__ == self.functions[target] and
                target.is_bad(each.version, each.body)]

    def _differs(self, response):
        """Return how what was judged is not what Nova did."""
        passed = response.status_int == DISPATCHED
        if len(self.executed) != passed:
            return f'{response.status} and {len(self.executed)} calls'
        if not passed:
            return None
        (done,) = self.executed
        if len(self.judged) != 1:
            return f'{len(self.judged)} judged for {done}'
        (call,) = self.judged
        if done.function.__name__ == 'create' and _is_recorded(
                done.body) != _has_server(call.body):
            return f'recorded, or not, in {done}'
        controller = done.resource.controller
        function = getattr(controller, call.action, None) or (
            done.resource.wsgi_actions[call.action])
        expected = (type(controller), function, done.version,
                    done.arguments, _text(done.body))
        found = (type(call.controller), done.function, call.version,
                 call.arguments, _text(call.body))
        return None if found == expected else f'{found} for {expected}'

    def _function(self, target):
        """Return what Nova calls for a target that is spelled as ever."""
        self._spell({name: values[0] for name, values in DIMENSIONS.items()}
                    | {'target': target, 'word': 'good'})
        (done,) = self.executed
        return done.function.__qualname__

    def test_spellings(self):
        self.functions = {each: self._function(each) for each in TARGETS}
        leaks, differences, statuses = [], [], collections.Counter()
        for spelling in spellings():
            response = self._spell(spelling)
            leaks += [(spelling, each) for each in self._leaked(spelling)]
            differs = self._differs(response)
            if differs:
                differences.append((spelling, differs))
            statuses[response.status_int] += 1
        self.assertEqual([], leaks[:3], f'{len(leaks)} in all')
        self.assertEqual([], differences[:3], f'{len(differences)} in all')
        # Some of every kind, or nothing was shown.
        self.assertLess(500, statuses[DISPATCHED])
        self.assertLess(500, statuses[400])
        self.assertEqual([], [each for each in statuses if each >= 500])


class OwnCallsTest(PipelinesTestCase):
    """Our own calls read a request as Nova reads the requests for its own."""

    def _both(self, data, headers, query='', **more):
        """Return the status of a call of Nova's, and that of one of ours."""
        for path in ('/v2.1/os-keypairs', '/v2.1/os-pclouds'):
            yield self._send(
                ORDERS[0], 'POST', path + query, 'alice', data, headers,
                **more).status_int

    def test_spellings(self):
        seen = set()
        body = json.dumps({'pcloud': {'name': 'a'}})
        for kind, encoding in itertools.product(TYPES, ENCODINGS):
            headers = {} if kind is None else {'Content-Type': kind}
            novas, ours = self._both(body.encode(encoding), headers)
            if encoding == 'latin-1' or ours == 415:
                # All of this body is ASCII.
                self.assertEqual({DISPATCHED: 201}.get(novas, novas), ours)
            elif encoding != 'utf-8':
                self.assertEqual(400, ours, (kind, encoding))
            seen.add(ours)
        self.assertEqual({201, 400, 415}, seen)

    def test_methods(self):
        body = json.dumps({'pcloud': {'name': 'a'}}).encode()
        for query, status in (
                ('', 201), ('?_method=', 201), ('?_method=POST', 201),
                ('?_method=post', 201), ('?%5Fmethod=GET', 201),
                ('?_method=GET', 400), ('?_method=PUT', 400),
                ('?_method=POST&_method=BREW', 400)):
            response = self._send(
                ORDERS[0], 'POST', f'/v2.1/os-pclouds{query}', 'alice', body,
                {'Content-Type': 'application/json'})
            self.assertEqual(status, response.status_int, query)

    def test_faults(self):
        for kind, query, status, text in (
                ('text/html', '', 415, "'text/html' is not supported; send "
                 'application/json.'),
                ('application/json', '?_method=PUT', 400,
                 '_method=PUT and the request is a POST')):
            response = self._send(
                ORDERS[0], 'POST', f'/v2.1/os-pclouds{query}', 'alice', b'{}',
                {'Content-Type': kind})
            (fault,) = response.json.values()
            self.assertEqual(status, fault['code'])
            self.assertIn(text, fault['message'])

    def test_no_version_below_v2(self):
        for order, version in itertools.product(ORDERS, VERSIONS):
            response = self._send(
                order, 'GET', '/v2/os-pclouds', 'alice', b'', version)
            self.assertEqual(200, response.status_int, version)
            self.assertNotIn(_NEW, response.headers)


def _has_server(body: object) -> bool:
    return isinstance(body, dict) and 'server' in body


def _is_recorded(body: object) -> bool:
    return RECORD in json.dumps(body)


def _text(body: object) -> str:
    """Return a body in JSON, without the hints that are added to it here."""
    if isinstance(body, dict):
        hints = {name: {key: value for key, value in values.items()
                        if key != RECORD} for name, values in body.items()
                 if name in HINTS and isinstance(values, dict)}
        body = {name: value for name, value in (body | hints).items()
                if name not in HINTS or value}
    return json.dumps(body)
