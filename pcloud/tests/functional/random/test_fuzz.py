# SPDX-License-Identifier: Apache-2.0

"""Every route, called with random valid and damaged requests.

Bodies come from the routes' own schemas, whole and damaged. `FuzzTest._check`
has the rules that every call of every user must keep.
"""

from collections.abc import Callable
import dataclasses
import json
import re
import string
import urllib.parse

import fixtures
import hypothesis
from hypothesis import configuration
from hypothesis import strategies as st
import webob

from pcloud.api import routes
from pcloud.rules import forms
from pcloud.tests.support import base
from pcloud.tests.support import outages
from pcloud.tests.support import shared_cloud

DAVE = 'd' * 32

# Names that mean something in the cloud of `FuzzTest`; those in angles stand
# for the ids that its Pclouds got.
KNOWN = {
    'deadline': ['2100-01-01', '2000-01-01T00:00:00Z'],
    'id': ['gpu', 'big', 'new'],
    'host': ['node-3', 'node-2', 'node-3', 'node-1', 'node-4'],
    'name': ['web', 'WEB', 'db', 'rack'],
    'hosts': [['node-1'], ['node-2', 'node-3'], ['node-4']],
    'value': ['r1', 'r2'],
    'scope': ['cloud', 'project', *['pcloud'] * 6, 'domain', 'role'],
    'constraints': ['ram=2G cpu=1', 'storage= rack=r1', '', 'role=none',
                    'cpu=x'],
    'system_keys': [['A=1:1'], ['A=1:1', '#RAM=0:5'], ['_A=1:1'], []],
    'customer_keys': [['B=1:-1'], ['B=1:1', 'b=2:1'], []],
    'tenant': [base.ALICE, base.BOB, DAVE, 'owner'],
    'entry': ['3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'],
    'project': [base.ALICE, base.BOB, DAVE],
    'host_flavor': ['gpu', 'big'],
    'availability_zone': ['az1', 'az2'],
    'flavor': ['1', '2'],
    'pcloud': ['<mine>', '<mine>', '<theirs>'],
    'in': ['web'],
}

GROUPS = {
    'host_flavors': ['/os-host-flavors', '/os-host-flavors/{id}'],
    'pools': ['/os-host-flavors/{id}/hosts',
              '/os-host-flavors/{id}/hosts/{host}'],
    'pclouds': ['/os-pclouds', '/os-pclouds/{id}',
                '/os-pclouds/{id}/explain', '/os-pclouds/{id}/simulate',
                '/os-pclouds/{id}/rehearsal', '/os-pclouds/{id}/rebalance',
                '/os-pclouds/{id}/usage',
                '/os-pcloud-room',
                '/os-pcloud-hidden-servers', '/os-pcloud-servers',
                '/os-pcloud',
                '/os-pcloud-audit'],
    'hosts': ['/os-pclouds/{id}/hosts', '/os-pclouds/{id}/hosts/{name}',
              '/os-pclouds/{id}/waiting', '/os-pclouds/{id}/waiting/{entry}',
              '/os-host-flavors/{id}/waiting'],
    'tenants': ['/os-pclouds/{id}/tenants',
                '/os-pclouds/{id}/tenants/{tenant}'],
    'quotas': ['/os-pcloud-quotas/{project}', '/os-pcloud-usage',
               '/os-pcloud-usage/{project}'],
    'policies': ['/os-pcloud-policies/{scope}/{id}'],
    'attributes': ['/os-pcloud-attributes', '/os-pcloud-attributes/{name}'],
}

# User and project and roles.
USERS = {
    'admin': (base.CAROL, 'reader,member,admin'),
    'owner': (base.ALICE, 'reader,member'),
    'reader': (base.ALICE, 'reader'),
    'nobody': (base.ALICE, ''),
    'tenant': (base.BOB, 'reader,member'),
    'stranger': (DAVE, 'reader,member'),
}
# A change that succeeded, and a refusal that changed nothing.
BOTH = frozenset({(True, False), (False, True)})
# So often calls are made up until there was one of each.
_ROUNDS = 5
HARMLESS = ('reader', 'nobody')

# What valid strings are made of: some of each kind.
CHARACTERS = string.printable + '\0\x7f\x85\xa0äßſİ☃\u2028\uffff'


@dataclasses.dataclass(frozen=True)
class Attempt:
    """A call, with the path that the server sees after decoding."""

    route: routes.Route
    user: str
    method: str
    path: bytes
    query: str
    body: bytes
    headers: dict


def _mostly(
    usual: st.SearchStrategy, other: st.SearchStrategy,
) -> st.SearchStrategy:
    return st.one_of(usual, usual, usual, usual, other)


# Characters of every kind, lone surrogates and control characters too.
texts = st.one_of(
    st.text(st.characters(), max_size=20),
    st.text(st.characters(categories=['Cs', 'Cc', 'Zs', 'So']), max_size=9),
    st.sampled_from(['', ' ', '.', '..', '%', '%00', '\0', '\n', 'a\n',
                     '\ud800', '\U0001f600', 'ß', 'ſ', '../..', 'null',
                     'x' * 255, 'x' * 256, 'x' * 10000, '☃' * 255]))

numbers = st.one_of(
    st.integers(), st.floats(),
    st.sampled_from([0, -1, -2, 1.5, 2.0, True, 2 ** 31, 2 ** 63, 10 ** 30,
                     -10 ** 400, 1e308, float('nan'), float('inf')]))

junk = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        texts, inner, max_size=3), max_leaves=6)

raw_bodies = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([
        b'', b'{', b'null', b'[' * 100000, b'{"a":' * 5000, b'NaN', b'{}',
        b'\xff\xfe', b'\xef\xbb\xbf{}', b'{"host": {}, "host": {}}',
        b'{"quota": {"units": {"limit": 1e400}}}',
        b'{"pcloud": {"cpu_allocation_ratio": 1e400}}',
        b'{"pcloud": {"cpu_allocation_ratio": 1e-320}}',
        b'{"host_flavor": {"id": "x", "units": ' + b'9' * 5000 + b'}}',
        '{"pcloud": {"name": "ä"}}'.encode('utf-16'),
        '{"pcloud": {"name": "ä"}}'.encode('latin-1')]))


def valid(schema: dict, name: str = '') -> st.SearchStrategy:
    """Return the values that a schema of Pcloud allows.

    :param name: the member of the schema; values in the cloud of a member
        with the same name are preferred
    """
    if 'enum' in schema:
        return st.sampled_from(schema['enum'])
    if 'anyOf' in schema:
        return st.one_of(*(valid(each, name) for each in schema['anyOf']))
    kinds = schema['type']
    kinds = [kinds] if isinstance(kinds, str) else kinds
    found = st.one_of(*(_VALID[kind](schema) for kind in kinds))
    if name in KNOWN and {'string', 'array'} & set(kinds):
        return _mostly(st.sampled_from(KNOWN[name]), found)
    return found


def _valid_object(schema: dict) -> st.SearchStrategy:
    members = {name: valid(inner, name)
               for name, inner in schema['properties'].items()}
    if schema.get('maxProperties') == 1:
        return st.one_of(*(st.fixed_dictionaries({name: member})
                           for name, member in members.items()))
    required = schema.get('required', [])
    return st.fixed_dictionaries(
        {name: members.pop(name) for name in required}, optional=members)


def _valid_string(schema: dict) -> st.SearchStrategy:
    """Return strings that a pattern allows, from the allowed characters.

    Hypothesis would take seconds to make strings from the pattern: hence
    neither `from_regex` nor a filter in which Hypothesis sees the pattern.
    """
    if forms.UUID in schema.get('pattern', ''):
        return st.uuids().map(str)
    allowed = re.compile(schema.get('pattern', '')).search
    alphabet = [each for each in CHARACTERS if allowed(each)]
    least, most = schema.get('minLength', 0), schema.get('maxLength', 255)
    longest = max((alphabet[0] * size for size in range(most + 1)
                   if allowed(alphabet[0] * size)), key=len)
    return st.just(longest) | st.text(
        alphabet, min_size=least, max_size=min(most, 20)).filter(
            lambda text: allowed(text) is not None)


def _valid_number(schema: dict) -> st.SearchStrategy:
    least = schema.get('minimum', schema.get('exclusiveMinimum'))
    return st.floats(least, schema['maximum'],
                     exclude_min='minimum' not in schema)


_VALID = {
    'object': _valid_object,
    'string': _valid_string,
    'number': _valid_number,
    'integer': lambda schema: st.integers(
        schema['minimum'], schema['maximum']),
    'boolean': lambda schema: st.booleans(),
    'null': lambda schema: st.none(),
    'array': lambda schema: st.lists(
        valid(schema['items']), min_size=schema.get('minItems', 0), max_size=3,
        unique=schema.get('uniqueItems', False)),
}


@st.composite
def damaged(draw, whole: st.SearchStrategy) -> object:
    """Return a valid body with a member changed, removed or added."""
    body = draw(whole)
    place = body
    while True:
        name = draw(st.sampled_from(sorted(place)) if place else texts)
        inside = isinstance(place.get(name), dict) and draw(st.booleans())
        if not inside:
            break
        place = place[name]
    change = draw(st.sampled_from(['replace', 'remove', 'add', 'wrap']))
    if change == 'remove':
        place.pop(name, None)
    elif change == 'wrap':
        place[name] = [place.get(name)]
    else:
        place[name if change == 'replace' else draw(texts)] = draw(junk)
    return body


def bodies(route: routes.Route) -> st.SearchStrategy[bytes]:
    """Return bodies for a route, mostly valid bodies."""
    anything = st.one_of(raw_bodies, junk.map(_encoded))
    if route.schema is None:
        return _mostly(st.just(b''), anything)
    whole = valid(route.schema)
    return st.one_of(*[whole.map(_encoded)] * 2,
                     damaged(whole).map(_encoded), anything)


def _encoded(body: object) -> bytes:
    return json.dumps(body).encode()


segments = st.one_of(
    texts.map(lambda text: text.encode('utf-8', 'surrogatepass')),
    st.binary(min_size=1, max_size=10),
    st.sampled_from([b'a/b', b'\xff', b'\0', b'%2e%2e', b'x' * 5000,
                     b'3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b',
                     '\U0001f600'.encode()]))


def known_paths(route: routes.Route) -> st.SearchStrategy[bytes]:
    """Return paths of a route, with names that the cloud has or might have."""
    return _paths(route, lambda known: known)


@st.composite
def odd_paths(draw, route: routes.Route) -> bytes:
    """Return a path of a route that may be damaged at any place."""
    path = draw(_paths(route, lambda known: _mostly(known, segments)))
    prefix = draw(st.sampled_from(
        [b''] * 9 + [b'/<project>', b'/' + base.BOB.encode()]))
    suffix = draw(st.sampled_from([b''] * 20 + [b'/', b'.json', b'//']))
    return path.replace(b'/v2.1', b'/v2.1' + prefix, 1) + suffix


def _paths(route: routes.Route, choose: Callable) -> st.SearchStrategy[bytes]:
    parts = []
    for part in route.path.split('/'):
        name = part.strip('{}')
        if name == part:
            parts.append(st.just(part.encode()))
            continue
        known = KNOWN[name]
        if name == 'id' and route.path.startswith('/os-pclouds'):
            known = KNOWN['pcloud']
        elif name == 'id' and route.path.startswith('/os-pcloud-policies'):
            known = [*KNOWN['pcloud'], 'default']
        parts.append(choose(st.sampled_from(
            [value.encode() for value in known])))
    return st.tuples(*parts).map(lambda found: b'/v2.1' + b'/'.join(found))


queries = st.one_of(
    st.just(''),
    st.dictionaries(
        st.sampled_from(['all_tenants', 'name', 'limit', 'marker',
                         'host']) | texts,
        st.sampled_from(['1', '0', 'true', '<mine>', '9' * 9, '-1']) | texts,
        max_size=3).map(lambda values: urllib.parse.urlencode(
            values, errors='surrogatepass')),
    st.sampled_from(['%', '%ff', '&&', '=', 'limit=1&limit=2', 'a;b', '?',
                     'name=%00', 'name=%f0%9f%98%80', 'limit=%d9%a3',
                     'name=' + 'x' * 10000, 'host=node-1',
                     'host=node-1&host=node-2']))

headers = _mostly(st.just({}), st.fixed_dictionaries({}, optional={
    'Content-Type': st.sampled_from(
        ['text/plain', 'application/xml', '', 'application/json; a=b']),
    'X-OpenStack-Nova-API-Version': st.sampled_from(
        ['2.1', 'latest', '2.999', '1', 'x', '']),
    'Accept': st.sampled_from(['application/xml', '*/*', 'x'])}))


def known_queries(route: routes.Route) -> st.SearchStrategy[str]:
    """Return query strings that a route's schema allows."""
    if route.query is None:
        return st.just('')
    return valid(route.query).map(lambda values: urllib.parse.urlencode(
        values, doseq=True, errors='surrogatepass'))


def sensible(route: routes.Route) -> st.SearchStrategy[Attempt]:
    """Return calls of a route that reach the route's handler."""
    body = st.just(b'') if route.schema is None else valid(
        route.schema).map(_encoded)
    return st.builds(
        Attempt, route=st.just(route), user=st.sampled_from(
            [*USERS, *['admin', 'owner'] * 3]),
        method=st.just(route.method), path=known_paths(route),
        query=known_queries(route), body=body, headers=st.just({}))


def odd(route: routes.Route) -> st.SearchStrategy[Attempt]:
    """Return calls of a route that may be wrong in every way."""
    return st.builds(
        Attempt, route=st.just(route), user=st.sampled_from(sorted(USERS)),
        method=st.sampled_from([route.method] * 20 + [
            'GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'HEAD', 'BREW']),
        path=odd_paths(route), query=queries, body=bodies(route),
        headers=headers)


class FuzzTest(shared_cloud.SharedCloudTestCase):
    """A cloud whose state is restored after each call with a change.

    Alice's Pcloud has an empty, disabled host. Bob is a tenant of Alice's
    Pcloud, and has a Pcloud too. A host of the pool is free, and a host is in
    no pool yet.
    """

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1'}

    def setUp(self):
        super().setUp()
        self.addCleanup(configuration.set_hypothesis_home_dir, None)
        configuration.set_hypothesis_home_dir(
            self.useFixture(fixtures.TempDir()).path)
        self.seen = set()
        self.useFixture(outages.Keystone())

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2')
        self.make_pool('big', units=3)
        self.disable_service('node-3')
        self.ids = {b'<mine>': self.make_pcloud(self.alice).encode(),
                    b'<theirs>': self.make_pcloud(self.bob).encode()}
        mine = self.ids[b'<mine>'].decode()
        self.add_host(self.alice, mine, 'web', 'gpu', enable=False)
        self.alice.call_json(
            'PUT', f'/os-pclouds/{mine}/tenants/{base.BOB}')
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.BOB}', {
            'quota': {'units': {'limit': 2}}})
        self.admin.call_json('PUT', f'/os-pcloud-policies/pcloud/{mine}', {
            'policy': {'customer_keys': ['A=1:1']}})
        self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
            'attribute': {'value': 'r1', 'hosts': ['node-1']}})
        self.mapper = routes.mapper()
        self.application = self.api_fixture.app()
        self.kept = self.keep()

    def _send(self, attempt):
        project, roles = USERS[attempt.user]
        path, query, body = attempt.path, attempt.query, attempt.body
        for name, value in [*self.ids.items(),
                            (b'<project>', project.encode())]:
            path, body = (part.replace(name, value) for part in (path, body))
            query = query.replace(
                urllib.parse.quote(name), value.decode())
        request = webob.Request.blank('/', method=attempt.method, headers={
            'Content-Type': 'application/json', 'X-Roles': roles,
            'X-Auth-User': attempt.user, 'X-User-Id': attempt.user,
            'X-Auth-Project-Id': project, **attempt.headers})
        request.environ['PATH_INFO'] = path.decode('latin-1')
        request.environ['QUERY_STRING'] = query
        request.body = body
        return path, request.get_response(self.application)

    def _template(self, path):
        """Return the template of a path in the route table, or None.

        The template of a path that cannot be decoded is empty: such a path is
        refused before the dispatch.
        """
        try:
            decoded = path.removeprefix(b'/v2.1').decode()
        except UnicodeDecodeError:
            return ''
        found = self.mapper.match(decoded)
        return None if found is None else found['template']

    def _check(self, attempt):
        path, response = self._send(attempt)
        now = self.dump()
        changed = now != self.kept.dump
        if changed:
            self.put_back(self.kept)
        status, template = response.status_int, self._template(path)
        self.assertLess(status, 500, response.text)
        if attempt.user != 'admin':
            self.assertNotIn('hv.example.org', response.text)
        if changed:
            self.assertNotIn(attempt.user, HARMLESS)
            self.assertNotIn(attempt.method, ('GET', 'HEAD'))
            self.assertLess(status, 300, response.text)
        if template is None:
            return
        if status < 400:
            route = routes.methods_of(template)[attempt.method]
            self.assertIn(status, (route.status, *route.also))
        elif attempt.method != 'HEAD':
            self._check_fault(response)
        self.seen.add((changed, status >= 400))

    def _check_fault(self, response):
        self.assertEqual('application/json', response.content_type)
        (kind, fault), = response.json.items()
        self.assertEqual(response.status_int, fault['code'])
        self.assertIsInstance(fault['message'], str)
        self.assertTrue(fault['message'], kind)

    def _fuzz(self, *paths):
        chosen = [route for route in routes.ROUTES if route.path in paths]
        # What takes a body has more to go wrong.
        weighted = chosen + [route for route in chosen if route.schema] * 2
        attempts = st.one_of([make(route) for make in (sensible, odd)
                              for route in weighted])
        # Until some were let through and some refused, or nothing is shown.
        for seed in range(_ROUNDS):
            self._check_some(attempts, seed)
            if BOTH <= self.seen:
                return
        self.fail(f'of (changed, refused) there was {self.seen} only')

    def _check_some(self, attempts, seed):
        @hypothesis.seed(seed)
        @hypothesis.settings(
            deadline=None, database=None, max_examples=100,
            phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
            suppress_health_check=list(hypothesis.HealthCheck))
        @hypothesis.given(attempts)
        def check(attempt):
            self._check(attempt)

        check()

    def test_host_flavors(self):
        self._fuzz(*GROUPS['host_flavors'])

    def test_pools(self):
        self._fuzz(*GROUPS['pools'])

    def test_pclouds(self):
        self._fuzz(*GROUPS['pclouds'])

    def test_hosts(self):
        self._fuzz(*GROUPS['hosts'])

    def test_tenants(self):
        self._fuzz(*GROUPS['tenants'])

    def test_quotas(self):
        self._fuzz(*GROUPS['quotas'])

    def test_policies(self):
        self._fuzz(*GROUPS['policies'])

    def test_attributes(self):
        self._fuzz(*GROUPS['attributes'])

    def test_no_route_is_left_out(self):
        grouped = [path for group in GROUPS.values() for path in group]
        self.assertEqual(sorted({route.path for route in routes.ROUTES}),
                         sorted(grouped))
