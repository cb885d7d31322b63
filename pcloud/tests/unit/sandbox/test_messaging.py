# SPDX-License-Identifier: Apache-2.0

"""Through which virtual host of which broker a sandbox talks."""

import os

import ddt
import fixtures
from oslotest import base

from pcloud_sandbox.configuration import messaging
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors

DATABASE = 'mysql+pymysql://root@db'


def _settings(url, database=DATABASE):
    return settings.Settings(hosts=1, ports={}, database=database,
                             messaging=url, key='k1')


@ddt.ddt
class MessagingTest(base.BaseTestCase):

    def test_one_process(self):
        self.assertEqual('fake://', messaging.url(_settings(None)))
        messaging.create(_settings(None))
        messaging.delete(_settings(None))

    @ddt.data(
        ('rabbit://me:x@mq', 'rabbit://me:x@mq/pcloud-sandbox-k1'),
        ('rabbit://me:x@mq:5673/', 'rabbit://me:x@mq:5673/pcloud-sandbox-k1'),
        ('rabbit://mq/mine', 'rabbit://mq/mine'),
        ('rabbit://mq/%2F', 'rabbit://mq/%2F'))
    @ddt.unpack
    def test_virtual_host(self, given, expected):
        self.assertEqual(expected, messaging.url(_settings(given)))

    @ddt.data('nothing', 'amqp://me@mq', 'rabbit://')
    def test_refused(self, given):
        error = self.assertRaises(errors.SandboxError, messaging.check,
                                  _settings(given))
        self.assertIn('rabbit://', str(error))

    def test_needs_a_database(self):
        error = self.assertRaises(
            errors.SandboxError, messaging.check,
            _settings('rabbit://mq', database=None))
        self.assertIn('--database', str(error))

    def _cells(self, url, **more):
        return settings.Settings(hosts=1, ports={}, messaging=url, key='k1',
                                 cells=2, **more)

    def test_each_cell_has_its_own(self):
        chosen = self._cells('rabbit://me@mq', database=DATABASE)
        messaging.check(chosen)
        self.assertEqual(
            ['rabbit://me@mq/pcloud-sandbox-k1',
             'rabbit://me@mq/pcloud-sandbox-k1-cell2'],
            [messaging.url(chosen, cell) for cell in (1, 2)])

    def test_cells_are_processes(self):
        error = self.assertRaises(
            errors.SandboxError, messaging.check, self._cells(None))
        self.assertIn('--cells 2', str(error))
        self.assertIn('--messaging', str(error))

    def test_cells_cannot_share_what_is_given(self):
        error = self.assertRaises(
            errors.SandboxError, messaging.check,
            self._cells('rabbit://me@mq/mine', database=DATABASE))
        self.assertIn('--cells 2', str(error))
        self.assertIn('name none', str(error))

    def test_all_are_deleted(self):
        folder = self.useFixture(fixtures.TempDir()).path
        said = os.path.join(folder, 'said')
        self._control(f'echo "$@" >> {said}\n'
                      'echo pcloud-sandbox-k1 pcloud-sandbox-k1-cell2')
        messaging.delete(self._cells('rabbit://me@mq', database=DATABASE))
        with open(said) as stream:
            self.assertEqual(
                ['delete_vhost pcloud-sandbox-k1',
                 'delete_vhost pcloud-sandbox-k1-cell2'],
                stream.read().splitlines()[1:])

    def _control(self, script):
        """Have a script of the test's own for the broker's command."""
        folder = self.useFixture(fixtures.TempDir()).path
        path = os.path.join(folder, messaging.CONTROL)
        with open(path, 'w') as stream:
            stream.write(f'#!/bin/sh\n{script}\n')
        os.chmod(path, 0o700)
        self.useFixture(fixtures.EnvironmentVariable('PATH', folder))

    def test_who_may_not_make_one_is_told_what_to_do(self):
        self._control('echo "Only root may" >&2; exit 1')
        error = self.assertRaises(errors.SandboxError, messaging.create,
                                  _settings('rabbit://me@127.0.0.1:1'))
        self.assertIn('add_vhost: Only root may', str(error))
        self.assertIn('/mine', str(error))

    def test_no_command(self):
        self.useFixture(fixtures.EnvironmentVariable('PATH', ''))
        error = self.assertRaises(errors.SandboxError, messaging.create,
                                  _settings('rabbit://me@127.0.0.1:1'))
        self.assertIn('not found', str(error))

    def test_nobody_answers(self):
        error = self.assertRaises(
            errors.SandboxError, messaging.create,
            _settings('rabbit://me:secret@127.0.0.1:1/mine'))
        self.assertIn('127.0.0.1:1', str(error))
        self.assertNotIn('secret', str(error))
