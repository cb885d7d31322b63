# SPDX-License-Identifier: Apache-2.0

import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
from unittest import mock

import fixtures
from oslo_config import cfg
from oslo_config import fixture as config_fixture
from oslotest import base
from prometheus_client import multiprocess

from pcloud import conf
from pcloud.counters import counter_files

COUNTER = counter_files.Counter('pcloud_tests', 'Tests.', ('kind',))
SECONDS = counter_files.Histogram(
    'pcloud_test_seconds', 'Seconds.', (0.1, 1.0, float('inf')))

COUNTING = textwrap.dedent('''
    import sys, time
    from oslo_config import cfg
    from pcloud import conf
    from pcloud.counters import counter_files
    conf.register_opts(cfg.CONF)
    cfg.CONF([])
    cfg.CONF.set_override('metrics_directory', sys.argv[1], group='pcloud')
    counter_files.Counter('pcloud_tests', 'Tests.', ('kind',)).add(['other'])
    print('counted', flush=True)
    time.sleep(600)
    ''')


class MeteringTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        conf.register_opts(cfg.CONF)
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'metrics')
        self.config = self.useFixture(config_fixture.Config())
        self.config.config(
            metrics_directory=str(self.folder), group='pcloud')
        self.log = self.useFixture(fixtures.FakeLogger())
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud.counters.counter_files._processes', {}))

    def counted(self):
        """Return ``(name, labels) -> value`` of what all processes counted."""
        return {(sample.name, *sample.labels.values()): sample.value
                for metric in multiprocess.MultiProcessCollector(
                    None, path=str(self.folder)).collect()
                for sample in metric.samples}

    def another(self):
        """Return another process, which has counted, and sleeps."""
        process = subprocess.Popen(
            [sys.executable, '-c', COUNTING, str(self.folder)],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual('counted\n', process.stdout.readline())
        return process

    def files(self):
        return sorted(each.name for each in self.folder.iterdir())

    def test_counters(self):
        COUNTER.add(['one'])
        COUNTER.add(['one'], 2)
        COUNTER.add(['other'])
        self.assertEqual({('pcloud_tests_total', 'one'): 3,
                          ('pcloud_tests_total', 'other'): 1},
                         self.counted())

    def test_histograms(self):
        for seconds in (0.05, 0.1, 0.5, 7):
            SECONDS.observe(seconds)
        found = self.counted()
        self.assertAlmostEqual(
            7.65, found.pop(('pcloud_test_seconds_sum',)))
        self.assertEqual({
            ('pcloud_test_seconds_bucket', '0.1'): 2,
            ('pcloud_test_seconds_bucket', '1.0'): 3,
            ('pcloud_test_seconds_bucket', '+Inf'): 4,
            ('pcloud_test_seconds_count',): 4}, found)

    def test_bounds_without_a_value(self):
        """A reader cannot make up the bounds that nobody wrote."""
        SECONDS.observe(0.01)
        self.assertEqual(
            [1, 1, 1], [value for (name, *_), value in self.counted().items()
                        if name.endswith('_bucket')])

    def test_off(self):
        self.config.config(metrics_directory=None, group='pcloud')
        COUNTER.add(['one'])
        SECONDS.observe(1)
        self.assertFalse(self.folder.exists())
        self.assertEqual({}, counter_files._processes)

    def test_processes_have_files_of_their_own(self):
        COUNTER.add(['one'])
        processes = [self.another() for _ in range(2)]
        self.assertEqual(
            {f'{kind}_{number}.db' for kind in ('counter', 'histogram')
             for number in range(3)}, {
                 name for name in self.files() if name.endswith('.db')})
        self.assertEqual({('pcloud_tests_total', 'one'): 1,
                          ('pcloud_tests_total', 'other'): 2},
                         self.counted())
        self.assertIsNone(processes[0].poll())

    def test_killed_process_is_followed(self):
        """What was counted is kept, and no file is left over."""
        for _ in range(3):
            process = self.another()
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.assertEqual({('pcloud_tests_total', 'other'): 3},
                         self.counted())
        self.assertEqual(['0.lock', 'counter_0.db', 'histogram_0.db'],
                         self.files())

    def test_forked_process(self):
        COUNTER.add(['one'])
        # The lock of the parent, as another thread may hold it at the fork.
        with counter_files._processes[os.getpid()]._lock:
            child = os.fork()
            if not child:
                signal.alarm(60)
                COUNTER.add(['one'], 10)
                os._exit(0)
        self.assertEqual(0, os.waitpid(child, 0)[1])
        COUNTER.add(['one'])
        self.assertEqual({('pcloud_tests_total', 'one'): 12},
                         self.counted())

    def test_library_is_missing(self):
        with mock.patch.object(counter_files, 'mmap_dict', None):
            COUNTER.add(['one'])
            COUNTER.add(['one'])
        self.assertEqual(1, self.log.output.count(
            'This process counts nothing'))
        self.assertIn('prometheus_client is not installed', self.log.output)

    def test_full_file_system(self):
        """A mapped page without a block would end the process."""
        with mock.patch.object(os, 'posix_fallocate',
                               side_effect=OSError(28, 'No space left')):
            COUNTER.add(['one'])
        self.assertIn('No space left', self.log.output)
        self.assertEqual([], list(self.folder.glob('*.db')))

    def test_space_is_reserved(self):
        COUNTER.add(['one'])
        for path in self.folder.glob('*.db'):
            self.assertGreaterEqual(
                path.stat().st_blocks * 512, counter_files._SIZE)

    def test_slots_of_others(self):
        """Neither a slot that is held nor one of another user is taken."""
        self.folder.mkdir()
        with (self.folder / '0.lock').open('w') as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            refused = str(self.folder / '1.lock')
            original = os.open

            def opened(path, *arguments):
                if str(path) == refused:
                    raise PermissionError()
                return original(path, *arguments)

            with mock.patch.object(os, 'open', opened):
                COUNTER.add(['one'])
        self.assertEqual({('pcloud_tests_total', 'one'): 1},
                         self.counted())
        self.assertIn('counter_2.db', self.files())

    def test_too_many_processes(self):
        with mock.patch.object(counter_files, '_MOST', 0):
            COUNTER.add(['one'])
        self.assertIn('0 processes count already', self.log.output)
