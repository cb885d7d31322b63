# SPDX-License-Identifier: Apache-2.0

"""Texts that MariaDB cannot be asked about, in every place of every call.

MariaDB ends the comparison of a column of Nova's with a character beyond the
basic multilingual plane by an error of the kind of a lost connection.
"""

import urllib.parse
import uuid

import testtools

from pcloud.api import routes
from pcloud.rules.placing import hints
from pcloud.tests.concurrency import cloud
from pcloud.tests.concurrency import crowd
from pcloud.tests.support import calls

BEYOND = '\U0001f600'
# What stands for a name in a path, as a client sends it.
ODD = ['%F0%9F%98%80', 'x' * 256, '%E2%98%83' * 255]


class TextsTest(testtools.TestCase):
    """A user has a Pcloud with a host; an administrator asks too."""

    def setUp(self):
        super().setUp()
        self.cloud = cloud.get()
        self.flavor = f'f{uuid.uuid4().hex[:8]}'
        self.cloud.seed(self.flavor, 1)
        project = uuid.uuid4().hex
        self.user = crowd.User(self.cloud.urls, project)
        self.admin = crowd.User(self.cloud.urls, project, admin=True)
        self.pcloud = self.user.make_pcloud()
        added = self.user.add_host(self.pcloud, 'web', self.flavor)
        self.assertEqual(201, added.status_code, added.text)
        self.known = {
            'tenant': project, 'project': project, 'name': 'web',
            'host': f'{self.flavor}-0', 'scope': 'project',
            'entry': str(uuid.uuid4())}
        self.errors = self.cloud.errors()

    def _path(self, route, **odd):
        id_ = (self.flavor if route.path.startswith('/os-host-flavors')
               else self.user.project_id if '{scope}' in route.path
               else self.pcloud)
        return route.path.format(**{'id': id_, **self.known, **odd})

    def _check(self, expected, user, method, path, body=None):
        answer = user.call(method, path, body)
        self.assertIn(answer.status_code, expected,
                      (method, path, body, answer.text))

    def test_paths(self):
        for route in routes.ROUTES:
            for name in routes.forms_of(route.path):
                for odd in ODD:
                    self._check(
                        {404}, self.admin, route.method,
                        self._path(route, **{name: odd}) + calls.query(route),
                        calls.body(route))
        self.assertEqual(self.errors, self.cloud.errors())

    def test_queries(self):
        for route in routes.ROUTES:
            if route.query is not None:
                for query in calls.with_text(route.query, BEYOND):
                    self._check(
                        {200, 400, 404}, self.admin, route.method,
                        f'{self._path(route)}?'
                        f'{urllib.parse.urlencode(query, doseq=True)}')
        self.assertEqual(self.errors, self.cloud.errors())

    def test_bodies(self):
        for route in routes.ROUTES:
            if route.schema is not None:
                for body in calls.with_text(route.schema, BEYOND):
                    self._check({400, 404}, self.admin, route.method,
                                self._path(route), body)
        self.assertEqual(self.errors, self.cloud.errors())

    def test_a_forced_move(self):
        # Nova answers, as there is no such server.
        answer = self.admin.call(
            'POST', f'/servers/{ODD[0]}/action',
            {'os-migrateLive': {'host': f'{self.flavor}-0',
                                'block_migration': False,
                                'disk_over_commit': False}})
        self.assertNotEqual(503, answer.status_code, answer.text)

    def test_hints(self):
        # Nova refuses the flavor, after the checks of the hints.
        server = {'name': 'x', 'imageRef': str(uuid.uuid4()),
                  'flavorRef': 'unknown', 'networks': 'none'}
        for name in [*hints.GIVEN, 'another']:
            for value in (BEYOND, [BEYOND], [f'tag:{BEYOND}'],
                          f'rack={BEYOND}', f'{BEYOND}=1', f'role={BEYOND}'):
                self._check({400}, self.user, 'POST', '/servers', {
                    'server': server, 'os:scheduler_hints': {name: value}})
        self.assertEqual(self.errors, self.cloud.errors())
