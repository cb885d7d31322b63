# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage simulate-policy``, and the guides that show it.

``REWRITE_GUIDES=1`` puts what is really printed into the guides, and draws
the picture of the guide anew.
"""

import argparse
import configparser
import contextlib
import csv
import datetime
import gzip
import io
import itertools
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import textwrap
from unittest import mock
from xml.etree import ElementTree

import ddt
import fixtures
import testtools

from pcloud.tests.commands import guide
from pcloud_simulator import command as simulate
from pcloud_simulator import fleets
from pcloud_simulator import generator
from pcloud_simulator import replay
from pcloud_simulator import simulated_cloud
from pcloud_simulator import weight_sets
from pcloud_simulator import workload

ADMIN = pathlib.Path(__file__).parents[4] / 'doc' / 'source' / 'admin'
SAMPLE = ADMIN / 'simulation'


def parse(arguments):
    """Return the arguments as ``pcloud-manage`` reads them."""
    parser = argparse.ArgumentParser()
    simulate.add_parser(parser.add_subparsers())
    return parser.parse_args([simulate.NAME, *arguments])


class SimulateTest(testtools.TestCase):
    """In a folder with the files of the sample."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for path in SAMPLE.iterdir():
            shutil.copy(path, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def simulate(self, *arguments):
        """Return the exit status and the output, errors first."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), \
                contextlib.redirect_stderr(printed):
            status = simulate.run(parse(arguments))
        return status, printed.getvalue()


@ddt.ddt
class RunTest(SimulateTest):

    TRACE = ('trace.csv', '--hosts-file', 'hosts.csv', '--begin',
             '2026-11-02')
    LIST = ('servers.json', '--flavors', 'flavors.json', '--hosts-file',
            'hosts.csv')

    def test_formats_agree(self):
        _, text = self.simulate(*self.TRACE, '-f', 'json')
        lines = json.loads(text)
        self.assertEqual(['nova', 'pcloud'],
                         [line['Policy'] for line in lines])
        _, text = self.simulate(*self.TRACE, '-f', 'csv')
        self.assertEqual(
            [{name: str(value) for name, value in line.items()}
             for line in lines], list(csv.DictReader(io.StringIO(text))))
        _, text = self.simulate(*self.TRACE)
        rows = [[cell.strip() for cell in row.split('|')[1:-1]]
                for row in text.splitlines() if row.startswith('|')]
        self.assertEqual(
            [list(lines[0]), *([str(value) for value in line.values()]
                               for line in lines)], rows)

    def test_over_time(self):
        _, text = self.simulate(
            *self.TRACE, '--over-time', '--looks', '3', '-f', 'json')
        lines = json.loads(text)
        self.assertEqual([0, 6.99, 13.97] * 2, [
            line['Day'] for line in lines])
        self.assertEqual([line['Servers'] for line in lines], [
            sum(line[platform] for platform in line
                if platform.startswith('2025') or platform.startswith('2026'))
            for line in lines])

    def test_it_can_be_repeated(self):
        arguments = (*self.LIST, '--over-time', '-f', 'json')
        once = self.simulate(*arguments)
        self.assertEqual(once, self.simulate(*arguments))
        self.assertNotEqual(once, self.simulate(*arguments, '--seed', '2'))

    def test_made_up_hosts(self):
        status, text = self.simulate(
            'trace.csv', '--hosts', '9', '--host-size', '48,96',
            '--host-size', '64,256,1000', '--weights', 'mine:ram=-1',
            '-f', 'json')
        self.assertEqual((0, 3), (status, len(json.loads(text))))

    def test_too_large(self):
        status, text = self.simulate(
            'trace.csv', '--hosts', '9', '--host-size', '8,32')
        self.assertEqual(0, status)
        self.assertRegex(
            text, 'pcloud-manage: [0-9]+ servers are larger than what any '
                  'host has, and are refused by every policy.\n')

    def test_plot(self):
        self.simulate(*self.TRACE, '--plot', 'plot.svg', '--weights',
                      '<b> & "c":ram=-1')
        root = ElementTree.parse('plot.svg').getroot()
        texts = [each.text for each in root.iter() if each.text]
        for name in ('nova', 'pcloud', '<b> & "c"'):
            self.assertIn(name, texts)
            self.assertIn(f'{name}: servers on each platform', texts)
        self.assertIn('20260901T000000Z', texts)
        shapes = [each.tag.rpartition('}')[-1] for each in root.iter()]
        # Four platforms for each policy, and three comparisons.
        self.assertEqual((12, 9), (shapes.count('polygon'),
                                   shapes.count('polyline')))

    @ddt.data(
        (('nowhere.csv', '--hosts', '3'), 'nowhere.csv cannot be used: '
         'No such file or directory.'),
        (('trace.csv', '--hosts', '0'), "--hosts: '0' is not right; it has "
         'to be a whole number from 1 to 100000.'),
        (('trace.csv', '--hosts', '9999999999'), "--hosts: '9999999999' is "
         'not right; it has to be a whole number from 1 to 100000.'),
        (('trace.csv', '--hosts', '3', '--looks', '9999999999'), "--looks: "
         "'9999999999' is not right; it has to be a whole number from 2 to "
         '10000.'),
        (('trace.csv', '--hosts', '3', '--bucket-days', '9999999999'),
         "--bucket-days: '9999999999' is not right; it has to be a whole "
         'number from 1 to 3650.'),
        (('trace.csv', '--hosts', '3', '--seed', '-1'), "--seed: '-1' is "
         'not right; it has to be a whole number above 0, such as 4.'),
        (('trace.csv', '--hosts', '3', '--begin', '9999-12-31'),
         'A trace of 13.9722 days that begins at 9999-12-31 ends after the '
         'year 9999; begin earlier or choose fewer days.'),
        (('trace.csv', '--hosts-file', 'hosts.csv', '--host-size', '1,1'),
         '--host-size is for hosts that are made up with --hosts; the file '
         'of hosts says how large its hosts are.'),
        ((*LIST, '--days', '9999999999'), 'In 1e+10 days, 16 servers that '
         'live for 12.2468 days become 13064603601, more than 5000000; '
         'choose fewer --days or a longer --lifetime.'),
        (('trace.csv', '--hosts', '3', '--host-size', '48'), "--host-size: "
         "'48' is not right; it has to be cpus, GB of memory and perhaps GB "
         'of disk, such as 48,192,2000.'),
        (('trace.csv', '--hosts', '3', '--host-size', '1,1'),
         'Each server of the trace is larger than any host; the smallest '
         'takes 2 vcpus, 4096 MiB of memory and 0 GiB of disk.'),
        (('trace.csv', '--hosts', '3', '--looks', '1'), "--looks: '1' is "
         'not right; it has to be a whole number from 2 to 10000.'),
        (('trace.csv', '--hosts', '3', '--plot', '/nowhere/a.svg'),
         '/nowhere/a.svg cannot be used: No such file or directory.'),
        (('trace.csv', '--hosts-file', 'hosts.csv'), 'The hosts have dates '
         'of reboots, and the trace has no dates; say when the trace begins '
         'with --begin.'),
        (('trace.csv', '--hosts-file', 'hosts.csv', '--begin', 'now'),
         "--begin: 'now' is not right; it has to be a moment in ISO 8601, "
         'such as 2026-11-02T08:30:00Z or 2026-11-02T10:30:00+02:00.'),
        (('servers.json', '--hosts', '3'), 'A list of servers names '
         'flavors; give their sizes with --flavors.'),
        (('trace.csv', '--hosts', '3', '--weights', 'ram=much'),
         "--weights: 'ram=much' is not right; it has to be weights such as "
         'platform=1.0,ram=-0.8,reboot=0.5, with a name such as packing: in '
         'front if wanted; the weighers are platform, reboot, '
         'hardware_class, ram, cpu, disk, hypervisor_version, '
         'num_instances.'))
    @ddt.unpack
    def test_bad_input(self, arguments, complaint):
        status, text = self.simulate(*arguments)
        self.assertEqual((1, complaint), (
            status, text.splitlines()[-1].removeprefix('pcloud-manage: ')))

    def test_a_bad_plot_is_found_before_anything_is_computed(self):
        status, text = self.simulate(*self.TRACE, '--plot', '/nowhere/a.svg')
        self.assertEqual((1, 1), (status, len(text.splitlines())))

    def test_a_pipe(self):
        reader, writer = os.pipe()
        with os.fdopen(writer, 'wb') as file:
            file.write((self.folder / 'trace.csv').read_bytes())
        with os.fdopen(reader, 'rb'):
            path = f'/dev/fd/{reader}'
            self.assertEqual(
                (1, f'pcloud-manage: {path} cannot be used: a trace is read '
                    'twice, and a pipe can be read once; write the trace to '
                    'a file.\n'), self.simulate(path, '--hosts', '3'))

    def test_packed(self):
        for name in self.TRACE[0], self.LIST[0]:
            path = self.folder / name
            arguments = self.TRACE if name in self.TRACE else self.LIST
            plain = self.simulate(*arguments)
            path.write_bytes(gzip.compress(path.read_bytes()))
            self.assertEqual(0, plain[0])
            self.assertEqual(plain, self.simulate(*arguments))

    def test_disks_do_not_count_where_no_host_is_made_with_one(self):
        status, text = self.simulate(
            'servers.json', '--flavors', 'flavors.json', '--hosts', '12',
            '--host-size', '48,192', '-f', 'json')
        self.assertEqual((0, 0), (status, json.loads(
            text.partition('\n')[2])[0]['Refused']))

    def test_no_hosts_in_the_file(self):
        (self.folder / 'none.csv').write_text('host,vcpus,memory_mb\n')
        self.assertEqual(
            (1, 'pcloud-manage: none.csv cannot be used: it has no host.\n'),
            self.simulate('trace.csv', '--hosts-file', 'none.csv'))

    def test_disks_do_not_count_where_no_host_has_one(self):
        (self.folder / 'small.csv').write_text(
            'host,vcpus,memory_mb\n' + ''.join(
                f'compute-{number},48,98304\n' for number in range(1, 13)))
        status, text = self.simulate(
            'servers.json', '--flavors', 'flavors.json', '--hosts-file',
            'small.csv', '-f', 'json')
        self.assertEqual((0, 0), (status, json.loads(
            text.partition('\n')[2])[0]['Refused']))


class CommandTest(SimulateTest):

    def test_neither_databases_nor_a_configuration(self):
        """A bad file ends the command with 1, and without a traceback."""
        (self.folder / 'bad.csv').write_text(
            'vmid,vmcreated,vmdeleted,vmcorecountbucket,vmmemorybucket\n'
            'a,0,,many,4\n')
        done = subprocess.run(
            [sys.executable, '-m', 'pcloud.cmd.manage', simulate.NAME,
             'bad.csv', '--hosts', '3'], capture_output=True, text=True)
        self.assertEqual(
            (1, '', "pcloud-manage: bad.csv, line 2, vmcorecountbucket: "
             "'many' is not right; it has to be a number above 0, such as 4 "
             'or 1.75.\n'), (done.returncode, done.stdout, done.stderr))

    def test_a_reader_that_has_seen_enough(self):
        """The rest of the output is dropped, without a traceback."""
        for looks in ('2', '3000'):
            reader, writer = os.pipe()
            os.close(reader)
            with os.fdopen(writer, 'wb') as output:
                done = subprocess.run(
                    [sys.executable, '-m', 'pcloud.cmd.manage',
                     simulate.NAME, 'trace.csv', '--hosts', '3',
                     '--over-time', '--looks', looks], stdout=output,
                    stderr=subprocess.PIPE, text=True)
            self.assertEqual((141, ''), (done.returncode, done.stderr))


class OrderTest(testtools.TestCase):
    """The weights of the guide keep the order of RFD 24."""

    def setUp(self):
        super().setUp()
        text = (ADMIN / 'placement.rst').read_text()
        self.blocks = [block.partition('\n\nNova')[0].partition('\nThe')[0]
                       for block in text.split('code-block:: ini\n')[1:]]
        self.weights = weight_sets.parse('platform=1.0,ram=-0.2,reboot=0.1')

    def _best(self, *hosts):
        """Return the name of the host that a server goes to.

        :param hosts: for each host name, platform, free GB, days to reboot
        """
        made = [fleets.FleetHost(
            name, fleets.Shape(96, 98304), platform,
            None if days is None else
            replay.UNDATED + datetime.timedelta(days=days))
            for name, platform, _, days in hosts]
        cloud = simulated_cloud.SimulatedCloud(
            made, self.weights, replay.UNDATED, datetime.timedelta(days=7))
        free = {name: free_gb for name, _, free_gb, _ in hosts}
        for number, host in enumerate(cloud.hosts):
            used = 96 - free[host.name]
            if used:
                cloud.start(number, workload.Size(1024 * used, 1))
        best = cloud.best(workload.Size(4096, 1))
        self.assertEqual(1, best.bit_count())
        return cloud.hosts[best.bit_length() - 1].name

    def test_options(self):
        for block, weights in zip(self.blocks, (
                self.weights, weight_sets.parse('ram=-1.0')), strict=True):
            options = configparser.ConfigParser()
            options.read_string(textwrap.dedent(block))
            found = {
                name.removesuffix('_weight_multiplier'): float(value)
                for group in options.sections()
                for name, value in options[group].items()}
            self.assertEqual(
                {**dict.fromkeys(
                    {*weight_sets.NOVA, *weight_sets.PCLOUD}, 0.0),
                 **weights.weights},
                {weight_sets.SERVERS: 0.0, **found})

    def test_fuller_hosts_first(self):
        """Memory by its inverse, whatever platform and reboot say."""
        self.weights = weight_sets.parse('ram=-1.0')
        oldest, newest = fleets.PLATFORMS[0], fleets.PLATFORMS[-1]
        self.assertEqual('fuller', self._best(
            ('full', newest, 3, None), ('fuller', oldest, 12, 1),
            ('half', newest, 60, None), ('empty', newest, 96, None)))

    def test_platform_before_memory_and_reboot(self):
        for older, newer in itertools.pairwise(fleets.PLATFORMS):
            self.assertEqual('new', self._best(
                ('oldest', fleets.PLATFORMS[0], 0, 1),
                ('old', older, 4, None), ('new', newer, 96, 1),
                ('newest', fleets.PLATFORMS[-1], 0, None)))

    def test_memory_before_reboot(self):
        newest = fleets.PLATFORMS[-1]
        self.assertEqual('full', self._best(
            ('full', newest, 4, 1), ('empty', newest, 96, None)))

    def test_reboot_at_last(self):
        newest = fleets.PLATFORMS[-1]
        self.assertEqual('later', self._best(
            ('soon', newest, 48, 1), ('later', newest, 48, 30)))


@ddt.ddt
class GuidesTest(SimulateTest):
    """The guides show what is really printed."""

    maxDiff = None

    def _type(self, command):
        name, *arguments = shlex.split(command.replace('\\\n', ' '))
        if name == 'pcloud-manage':
            self.assertEqual(simulate.NAME, arguments[0])
            return self.simulate(*arguments[1:])[1].rstrip()
        self.assertEqual(('python', ['-m', generator.__name__], '>'), (
            name, arguments[:2], arguments[-2]))
        with open(arguments[-1], 'w') as file, \
                contextlib.redirect_stdout(file), \
                mock.patch.object(sys, 'argv', ['it', *arguments[2:-2]]):
            generator.main()
        return ''

    @ddt.data('simulation.rst', 'placement.rst')
    def test_commands(self, name):
        path = ADMIN / name
        steps = guide.steps(path.read_text())
        self.assertNotEqual([], steps)
        printed = [self._type(step.command) for step in steps]
        if os.environ.get('REWRITE_GUIDES'):
            guide.rewrite(path, printed)
            shutil.copy(self.folder / 'result.svg', SAMPLE)
            return
        for step, output in zip(steps, printed, strict=True):
            self.assertEqual(step.output, output, step.command)
        self.assertEqual((SAMPLE / 'result.svg').read_text(),
                         (self.folder / 'result.svg').read_text())

    def test_the_sample_can_be_made_again(self):
        self._type('python -m pcloud_simulator.generator --servers 30 '
                   '--days 14 --lifetime 5 --seed 3 > again.csv')
        self.assertEqual((SAMPLE / 'trace.csv').read_text(),
                         (self.folder / 'again.csv').read_text())
        self.assertIn('--servers 30 --days 14 --lifetime 5 --seed 3',
                      (ADMIN / 'simulation.rst').read_text())
