# SPDX-License-Identifier: Apache-2.0

"""An API process killed at every step of adding and removing a host."""

import collections
import json
import os
import subprocess
import sys
import uuid

from nova import context as nova_context
import requests
import testtools

from pcloud.audit import all_checks
from pcloud.tests.concurrency import cloud
from pcloud.tests.concurrency import crowd
from pcloud.tests.support import ledger

# More than any request has.
MOST_STEPS = 40


class CrashTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cloud = cloud.get()
        self.flavor = f'f{uuid.uuid4().hex[:8]}'
        self.hosts = self.cloud.seed(self.flavor, 3)
        self.user = crowd.User(self.cloud.urls, uuid.uuid4().hex)
        self.pcloud = self.user.make_pcloud()
        self._set_ratios()
        # A neighbour that nothing may happen to.
        other = crowd.User(self.cloud.urls, uuid.uuid4().hex)
        pcloud = other.make_pcloud()
        self.assertEqual(201, other.add_host(
            pcloud, 'a', self.flavor).status_code)
        self.assertEqual(200, other.set_state(
            pcloud, 'a', 'enabled').status_code)
        self.open = ledger.given_to(self.hosts)
        self.assertEqual(1, len(self.open))

    def _set_ratios(self):
        self.assertEqual(200, self.user.call(
            'PUT', f'/os-pclouds/{self.pcloud}', {'pcloud': {
                'cpu_allocation_ratio': 9, 'ram_allocation_ratio': 2,
            }}).status_code)

    def _find(self):
        return all_checks.find(nova_context.get_admin_context(), settle=0)

    def _killed(self, call, when, number):
        """Make a call whose process dies; False when it did not get there."""
        try:
            call({'X-Kill-At': f'{when}:{number}'})
        except requests.ConnectionError:
            return True
        return False

    def _audit_command(self, *options):
        done = subprocess.run(
            [os.path.join(os.path.dirname(sys.executable), 'pcloud-manage'),
             '--config-file', self.cloud.config, 'audit', '--settle', '0',
             '--format', 'json', *options],
            stdout=subprocess.PIPE, text=True, check=False)
        return done.returncode, json.loads(done.stdout)['findings']

    def _repair(self, by_command):
        """Let audit name what is wrong, repair it, and find no more."""
        found = self._find()
        if by_command:
            status, named = self._audit_command()
            self.assertEqual(1 if found else 0, status)
            self.assertEqual([each.kind for each in found],
                             [each['kind'] for each in named])
            self.assertEqual(0, self._audit_command('--fix')[0])
        else:
            for finding in found:
                finding.repair(nova_context.get_admin_context())
        # A change is whole, so that nothing else can be left.
        self.assertLessEqual({each.kind for each in found},
                             {'change-not-finished'})
        self.assertEqual([], self._find())
        self.assertEqual([], ledger.broken_promises())
        return sorted({each.kind for each in found})

    def _report(self, killed, kinds):
        print(f'\n{self.id().rsplit(".", 1)[1]}: killed at {killed} places; '
              f'left behind: {kinds}', flush=True)

    def _at_each_step(self, prepare, call, mend):
        """Kill a process between any two of its steps, and mend what is left.

        Who dies after a step has done as much as who dies before the next one,
        so every other step will do.

        :param prepare: called before each call
        :param call: the call, with the headers that have it killed
        :param mend: what the owner does then, without an administrator
        """
        empty = ledger.dump(self.hosts)
        killed, kinds = 0, collections.Counter()
        for number in range(1, MOST_STEPS, 2):
            reached = 0
            for when in ('before', 'after'):
                prepare()
                if not self._killed(call, when, number):
                    continue
                reached += 1
                self.assertEqual(self.open, ledger.given_to(self.hosts))
                self.assertEqual([], ledger.broken_promises())
                if number % 4 == 1:
                    mend()
                kinds.update(self._repair(by_command=number == 5))
                if ledger.state_of(self.pcloud, 'web'):
                    self._remove()
                self.assertEqual(empty, ledger.dump(self.hosts))
            killed += reached
            if not reached:
                break
        self._report(killed, kinds)
        self.assertGreater(killed, 7)
        self.assertIn('change-not-finished', kinds)

    def test_adding(self):
        """Afterwards the host is not there, or it is there whole."""
        def prepare():
            if ledger.state_of(self.pcloud, 'web'):
                self._remove()

        def mend():
            """The host can be had, enabled and disabled."""
            again = self.user.add_host(self.pcloud, 'web', self.flavor)
            self.assertIn(again.status_code, (201, 409), again.text)
            for state in ('enabled', 'disabled'):
                changed = self.user.set_state(self.pcloud, 'web', state)
                self.assertEqual(200, changed.status_code, changed.text)

        self._at_each_step(
            prepare, lambda headers: self.user.add_host(
                self.pcloud, 'web', self.flavor, **headers), mend)

    def test_removing(self):
        """Afterwards the host is gone, or it is there as it was."""
        def prepare():
            if not ledger.state_of(self.pcloud, 'web'):
                self._add()

        def mend():
            """The host can be removed, and another be had for it."""
            again = self.user.remove_host(self.pcloud, 'web')
            self.assertIn(again.status_code, (204, 404), again.text)
            self._add()

        self._at_each_step(
            prepare, lambda headers: self.user.remove_host(
                self.pcloud, 'web', **headers), mend)

    def _add(self):
        response = self.user.add_host(self.pcloud, 'web', self.flavor)
        self.assertEqual(201, response.status_code, response.text)

    def _remove(self):
        response = self.user.remove_host(self.pcloud, 'web')
        self.assertEqual(204, response.status_code, response.text)
