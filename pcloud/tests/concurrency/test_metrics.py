# SPDX-License-Identifier: Apache-2.0

"""API processes that count, and ``pcloud-manage metrics`` beside them."""

import collections
import concurrent.futures
import functools
import re
import signal
import subprocess
import uuid

import requests
import testtools

from pcloud.tests.concurrency import cloud
from pcloud.tests.concurrency import crowd

# Seconds for a command on the slowest of machines.
_PATIENCE = 300


class MetricsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cloud = cloud.get()
        self.flavor = f'f{uuid.uuid4().hex[:8]}'

    def _command(self, *arguments):
        return [cloud.beside('pcloud-manage'), '--config-file',
                str(self.cloud.config), 'metrics', *arguments]

    def _printed(self, *arguments):
        """Return what the command prints."""
        return subprocess.run(
            self._command(*arguments), capture_output=True, text=True,
            check=True, timeout=_PATIENCE).stdout

    def _values(self, text, name):
        """Return the samples of the test's host flavor that are not 0."""
        found = re.findall(
            rf'^{name}{{([^}}]*host_flavor="{self.flavor}"[^}}]*)}} (\S+)$',
            text, re.MULTILINE)
        own = f'host_flavor="{self.flavor}"'
        return {labels.replace(own, '').strip(','): float(value)
                for labels, value in found if float(value)}

    def _allocate(self, names):
        """Ask each API process for hosts, all at once; count the answers."""
        users = [crowd.User([url], uuid.uuid4().hex)
                 for url in self.cloud.urls]
        pclouds = [user.make_pcloud() for user in users]
        answers = crowd.at_once([
            functools.partial(user.add_host, pcloud, name, self.flavor)
            for user, pcloud in zip(users, pclouds) for name in names])
        return collections.Counter(crowd.codes(answers))

    def test_each_process_counts(self):
        """What is counted is what was answered, also of killed processes."""
        self.cloud.seed(self.flavor, 12, units=2)
        codes = self._allocate(['a', 'b'])
        files = self._files()
        self.cloud.kill(0)
        self.cloud.wait_for(self.cloud.urls[0])
        codes += self._allocate(['a', 'b', 'c'])
        self.assertEqual({201, 409}, set(codes))
        text = self._printed('--projects', '2')
        self.assertEqual(
            {'cause="call"': codes[201]},
            self._values(text, 'pcloud_allocations_total'))
        refused = self._values(text, 'pcloud_allocation_refusals_total')
        self.assertEqual(codes[409], sum(refused.values()))
        self.assertLessEqual(
            {*refused}, {'reason="no_free_host"', 'reason="contended"'})
        self.assertEqual(12, sum(self._values(text, 'pcloud_hosts').values()))
        self.assertEqual(
            3, len(re.findall('^pcloud_units_in_use{', text, re.MULTILINE)))
        # The process that followed goes on in the files of the killed one.
        self.assertEqual(files, self._files())
        # Tests before may have been a worker, which counts too.
        self.assertLessEqual(len(files), 2 * (len(self.cloud.urls) + 1))

    def _files(self):
        return sorted(each.name for each in (
            self.cloud.folder / 'metrics').glob('*.db'))

    def test_served_until_a_signal(self):
        self.cloud.seed(self.flavor, 2)
        for number in (signal.SIGTERM, signal.SIGINT):
            with self._serving() as (server, url):
                port = url.rpartition('/')[0].rpartition(':')[2]
                with concurrent.futures.ThreadPoolExecutor() as pool:
                    answers = list(pool.map(requests.get, [url] * 2))
                for answer in answers:
                    self.assertEqual(200, answer.status_code, answer.text)
                    self.assertEqual(
                        [2.0], list(self._values(
                            answer.text, 'pcloud_hosts').values()))
                self.assertEqual(404, requests.get(
                    url.removesuffix('metrics')).status_code)
                second = subprocess.run(
                    self._command('--listen', f'127.0.0.1:{port}'),
                    capture_output=True, text=True, timeout=_PATIENCE)
                self.assertEqual(2, second.returncode)
                self.assertIn(f'127.0.0.1:{port}: Address already in use',
                              second.stderr)
                self.assertNotIn('Traceback', second.stderr)
                server.send_signal(number)
                self.assertEqual(0, server.wait(_PATIENCE))

    def _serving(self):
        """Return a context with a process that serves, and its URL."""
        return _Serving(self._command('--listen', ':0'))


class _Serving:

    def __init__(self, command):
        self._command = command

    def __enter__(self):
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, text=True)
        told = self._process.stdout.readline()
        return self._process, told.split()[-1]

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
