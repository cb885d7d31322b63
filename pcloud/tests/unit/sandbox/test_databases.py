# SPDX-License-Identifier: Apache-2.0

"""Where the databases of a sandbox are, in files and on a server."""

import ddt
from oslotest import base

from pcloud_sandbox.configuration import databases
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors

WHERE = layout.Layout('/sandbox')


def _settings(database):
    return settings.Settings(hosts=1, ports={}, database=database, key='k1')


@ddt.ddt
class DatabasesTest(base.BaseTestCase):

    def test_files(self):
        self.assertEqual(
            'sqlite:////sandbox/data/glance.sqlite?timeout=60',
            databases.url(WHERE, _settings(None), 'glance'))

    @ddt.data(
        ('mysql+pymysql://root@db', 'root@db/pcloud_sandbox_k1_glance'),
        ('mysql+pymysql://me:a%40b@db:3307/', 'me:a%40b@db:3307/'
         'pcloud_sandbox_k1_glance'),
        ('mysql+pymysql://root@db/mine', 'root@db/mine_k1_glance'))
    @ddt.unpack
    def test_a_server(self, given, expected):
        self.assertEqual(
            f'mysql+pymysql://{expected}?charset=utf8mb4',
            databases.url(WHERE, _settings(given), 'glance'))

    def test_each_cell_has_its_own(self):
        one, two = (databases.names(settings.Settings(
            hosts=1, ports={}, cells=cells)) for cells in (1, 2))
        self.assertEqual([*one, 'nova_cell2'], two)

    def test_sandboxes_have_their_own(self):
        one, other = (
            databases.url(WHERE, settings.Settings(
                hosts=1, ports={}, database='mysql+pymysql://root@db'), 'nova')
            for _ in '12')
        self.assertNotEqual(one, other)

    @ddt.data('nothing', 'postgresql://root@db', 'mysql://root@db')
    def test_refused(self, given):
        error = self.assertRaises(errors.SandboxError, databases.check,
                                  _settings(given))
        self.assertIn('mysql+pymysql://', str(error))

    def test_nobody_answers(self):
        error = self.assertRaises(
            errors.SandboxError, databases.check,
            _settings('mysql+pymysql://root:secret@127.0.0.1:1'))
        self.assertIn('127.0.0.1:1', str(error))
        self.assertNotIn('secret', str(error))
