# SPDX-License-Identifier: Apache-2.0

"""Hosts are read from a file, or made up."""

import datetime
import gzip
import os

import ddt

from pcloud.tests.unit.simulation import base
from pcloud_simulator import fleets
from pcloud_simulator import workload

HEAD = 'host,vcpus,memory_mb,disk_gb,platform_version,next_reboot,' \
    'hardware_class\n'
BEGIN = datetime.datetime(2026, 11, 2, tzinfo=datetime.UTC)


@ddt.ddt
class ReadTest(base.FilesTest):

    def test_all_columns(self):
        path = self.write(
            'host,vcpus,memory_mb,disk_gb,cpu_allocation_ratio,'
            'ram_allocation_ratio,disk_allocation_ratio,platform_version,'
            'next_reboot,hardware_class,hypervisor_version,rack\n'
            'c1,48,98304,2000,2.5,1.25,1,20260901T000000Z,'
            '2026-11-09T04:00:00+02:00,2.5,8002000,r1\n')
        self.assertEqual((fleets.FleetHost(
            'c1', fleets.Shape(48, 98304, 2000, 2.5, 1.25, 1.0),
            '20260901T000000Z',
            datetime.datetime(2026, 11, 9, 2, tzinfo=datetime.UTC), 2.5,
            8002000),), fleets.read(path))

    def test_what_is_needed(self):
        path = self.write('memory_mb,vcpus,host\n98304,48,c1\n')
        self.assertEqual(
            (fleets.FleetHost(
                'c1', fleets.Shape(48, 98304, 0, 4.0, 1.0, 1.0)),),
            fleets.read(path))

    def test_through_a_pipe(self):
        text = 'host,vcpus,memory_mb\nc1,48,98304\n'
        for content in (text.encode(), gzip.compress(text.encode())):
            reader, writer = os.pipe()
            with os.fdopen(writer, 'wb') as file:
                file.write(content)
            with os.fdopen(reader, 'rb'):
                hosts = fleets.read(f'/dev/fd/{reader}')
            self.assertEqual(['c1'], [host.name for host in hosts])

    def test_a_date_is_the_end_of_the_day(self):
        """As everywhere in Pcloud."""
        path = self.write(HEAD + 'c1,1,1,1,,2026-11-09,\n')
        self.assertEqual(
            datetime.datetime(2026, 11, 9, 23, 59, 59, tzinfo=datetime.UTC),
            fleets.read(path)[0].reboot)

    @ddt.data(
        ('c1,0,1,1,,,', "vcpus: '0' is not right; it has to be a whole "
         'number above 0, such as 4.'),
        ('c1,1,1.5,1,,,', "memory_mb: '1.5' is not right; it has to be a "
         'whole number above 0, such as 4.'),
        ('c1,1,1,much,,,', "disk_gb: 'much' is not right; it has to be a "
         'whole number above 0, such as 4.'),
        ('c1,1,1,1,20261301T000000Z,,', "platform_version: "
         "'20261301T000000Z' is not right; it has to be a stamp such as "
         '20261231T235959Z, or a dotted version such as 2.10.1.'),
        ('c1,1,1,1,,soon,', "next_reboot: 'soon' is not right; it has to be "
         'ISO 8601, such as 2026-12-31T23:59:59Z.'),
        ('c1,1,1,1,,,good', "hardware_class: 'good' is not right; it has to "
         'be a number such as 3 or 2.5.'),
        ('c0,1,1,1,,,', "host: 'c0' is not right; it has to be a name of its "
         'own for each host; line 2 has this name.'),
        (',1,1,1,,,', "host: '' is not right; it has to be a name of its own "
         'for each host.'),
        ('c1,1,1,1,2.10,,', "platform_version: '2.10' is not right; it has "
         'to be a version of the kind of 20260901T000000Z: all stamps, or '
         'all dotted.'))
    @ddt.unpack
    def test_bad_line(self, line, complaint):
        path = self.write(
            f'{HEAD}c0,1,1,1,20260901T000000Z,,\n{line}\n')
        self.assertEqual(f'file, line 3, {complaint}',
                         self.complaint(fleets.read, path))

    def test_no_host(self):
        self.assertEqual('file cannot be used: it has no host.',
                         self.complaint(fleets.read, self.write(HEAD)))

    def test_platforms_are_ordered_as_versions(self):
        path = self.write(
            HEAD + 'a,1,1,,2.10,,\nb,1,1,,2.9,,\nc,1,1,,,,\nd,1,1,,2.9,,\n')
        self.assertEqual(['2.9', '2.10'],
                         fleets.platforms(fleets.read(path)))


class MakeTest(base.FilesTest):

    def test_quarters(self):
        shapes = [fleets.Shape(8, 8192), fleets.Shape(16, 16384)]
        hosts = fleets.make(8, shapes, BEGIN, 100 * workload.DAY)
        self.assertEqual(
            [platform for platform in fleets.PLATFORMS for _ in range(2)],
            [host.platform for host in hosts])
        self.assertEqual(shapes * 4, [host.shape for host in hosts])
        self.assertEqual(
            [50, 55, 75, 65, 85, 90, None, None],
            [host.reboot and (host.reboot - BEGIN).days for host in hosts])
        self.assertEqual(8, len({host.name for host in hosts}))

    def test_one_host(self):
        self.assertEqual(1, len(fleets.make(
            1, [fleets.Shape(8, 8192)], BEGIN, 0.0)))
