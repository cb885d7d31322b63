# SPDX-License-Identifier: Apache-2.0

"""Traces of the Azure Public Dataset are read, and bad lines named."""

import csv
import datetime
import gzip
import io
import random

import ddt

from pcloud.tests.unit.simulation import base
from pcloud_simulator import azure_trace
from pcloud_simulator import generator
from pcloud_simulator import workload

HEAD = 'vmid,vmcreated,vmdeleted,vmcorecountbucket,vmmemorybucket\n'
NEVER = workload.FOREVER


def server(start, end, memory_gb=4, vcpus=2):
    return workload.TraceServer(
        start, end, workload.Size(int(memory_gb * 1024), vcpus))


@ddt.ddt
class ReadTest(base.FilesTest):

    def _read(self, text):
        return azure_trace.read(self.write(text))

    def test_second_edition(self):
        """As published: no first line with names, and open buckets."""
        trace = self._read(
            '71fJw0x+SD/A=,GB6u,2sh,0,2591400,91.7,0.7,20.7,'
            'Delay-insensitive,>24,>64\n'
            'rKggHO,ub4t,+Zra,424500,425400,37.8,3.3,37.8,Unknown,4,32\n')
        self.assertEqual(
            (server(0, NEVER, 70, 30), server(424500, 425400, 32, 4)),
            trace.servers)
        self.assertEqual((2591400, None), (trace.seconds, trace.begin))

    def test_first_edition(self):
        trace = self._read(
            'a,s,d,0,300,1,1,1,Unknown,1,0.75\n'
            'b,s,d,300,900,1,1,1,Unknown,16,112.0\n')
        self.assertEqual((server(0, 300, 0.75, 1),
                          server(300, NEVER, 112, 16)), trace.servers)

    def test_columns_in_any_order(self):
        trace = self._read(
            'VMMemoryBucket, vmid ,more,vmdeleted,vmcreated,'
            'vmcorecountbucket\n\n8,a,?,600,0,2\n4,b,?,900,0,2\n')
        self.assertEqual((server(0, 600, 8), server(0, NEVER)),
                         trace.servers)

    def test_packed(self):
        text = HEAD + 'a,0,,2,4\nb,300,600,2,4\nc,600,900,2,4\n'
        self.assertEqual(self._read(text),
                         self._read(gzip.compress(text.encode())))

    def test_nobody_saw_the_end(self):
        """Without an end, or with the end of the trace."""
        trace = self._read(HEAD + 'a,0,,2,4\nb,0,900,2,4\nc,0,600,2,4\n')
        self.assertEqual([NEVER, NEVER, 600],
                         [each.end for each in trace.servers])
        self.assertEqual(900, trace.seconds)

    def test_no_end_at_all(self):
        trace = self._read(HEAD + 'a,0,,2,4\nb,600,,2,4\n')
        self.assertEqual(600, trace.seconds)

    def test_out_of_order(self):
        trace = self._read(
            HEAD + 'a,900,,2,4\nb,0,300,2,4\nc,600,600,2,8\n')
        self.assertEqual(
            (server(0, 300), server(600, 600, 8), server(900, NEVER)),
            trace.servers)

    def test_seconds_count_from_0(self):
        """A trace whose first server came later has begun all the same."""
        trace = self._read(HEAD + 'a,300,600,2,4\nb,300,900,2,4\n')
        self.assertEqual((300, 900), (trace.servers[0].start, trace.seconds))

    def test_dates(self):
        """Each zone is read, and UTC where there is none."""
        trace = self._read(
            HEAD + 'a,2026-11-02T10:00:00+02:00,,2,4\n'
            'b,2026-11-02 09:00:00,2026-11-02T03:30:00-0700,2,4\n'
            'c,2026-11-03,2026-11-03T08:00:00Z,2,4\n')
        self.assertEqual(
            datetime.datetime(2026, 11, 2, 8, tzinfo=datetime.UTC),
            trace.begin)
        self.assertEqual(
            (server(0, NEVER), server(3600, 9000), server(57600, NEVER)),
            trace.servers)
        self.assertEqual(86400, trace.seconds)

    def test_summer_time_ends(self):
        """The hour that a clock shows twice is two hours."""
        trace = self._read(
            HEAD + 'a,2026-10-25T02:30:00+02:00,,2,4\n'
            'b,2026-10-25T02:30:00+01:00,,2,4\n')
        self.assertEqual([0, 3600], [each.start for each in trace.servers])

    @ddt.data(
        ('a,x,,2,4', "vmcreated: 'x' is not right; it has to be seconds since "
         'the trace began, such as 300, or else ISO 8601 on each line.'),
        ('a,-300,,2,4', "vmcreated: '-300' is not right; it has to be a "
         'moment in ISO 8601, such as 2026-11-02T08:30:00Z or '
         '2026-11-02T10:30:00+02:00.'),
        ('a,2026-02-30,,2,4', "vmcreated: '2026-02-30' is not right; it has "
         'to be a moment in ISO 8601, such as 2026-11-02T08:30:00Z or '
         '2026-11-02T10:30:00+02:00.'),
        ('a,600,300,2,4', "vmdeleted: '300' is not right; it has to be a "
         'time that is not before vmcreated, 600, or nothing.'),
        ('a,0,nan,2,4', "vmdeleted: 'nan' is not right; it has to be seconds "
         'since the trace began, such as 300, or else ISO 8601 on each line.'),
        ('a,0,99999999999,2,4', "vmdeleted: '99999999999' is not right; it "
         'has to be seconds since the trace began, such as 300, or else ISO '
         '8601 on each line.'),
        ('a,0,,0,4', "vmcorecountbucket: '0' is not right; it has to be a "
         'number above 0, such as 4 or 1.75.'),
        ('a,0,,,4', "vmcorecountbucket: '' is not right; it has to be a "
         'number above 0, such as 4 or 1.75.'),
        ('a,0,,2,>65', "vmmemorybucket: '>65' is not right; it has to be a "
         'number above 0, such as 4 or 1.75.'),
        ('a,0,,2,-4', "vmmemorybucket: '-4' is not right; it has to be a "
         'number above 0, such as 4 or 1.75.'),
        (',0,,2,4', "vmid: '' is not right; it has to be a name of its own "
         'for each server.'),
        ('a,0,,2', "vmmemorybucket: 'a,0,,2' is not right; it has to be 5 "
         'values, one for each column, and not 4.'),
        ('a,0,,2,4,5', "vmmemorybucket: 'a,0,,2,4,5' is not right; it has to "
         'be 5 values, one for each column, and not 6.'))
    @ddt.unpack
    def test_bad_line(self, line, complaint):
        path = self.write(f'{HEAD}{line}\nz,0,300,2,4\n')
        self.assertEqual(f'file, line 2, {complaint}',
                         self.complaint(azure_trace.read, path))

    def test_bad_line_far_below(self):
        path = self.write(HEAD + 'a,0,,2,4\n\n"b",0,,2,4\nc,0,,2,four\n')
        self.assertTrue(self.complaint(azure_trace.read, path).startswith(
            "file, line 5, vmmemorybucket: 'four' is not right"))

    def test_same_id_twice(self):
        path = self.write(HEAD + 'a,0,,2,4\nb,0,,2,4\na,300,,2,4\n')
        self.assertEqual(
            "file, line 4, vmid: 'a' is not right; it has to be a name of "
            'its own for each server; line 2 has this name.',
            self.complaint(azure_trace.read, path))

    def test_seconds_and_dates(self):
        path = self.write(HEAD + 'a,0,,2,4\nb,2026-11-02,,2,4\n')
        self.assertEqual(
            "file, line 3, vmcreated: '2026-11-02' is not right; it has to "
            'be seconds since the trace began, such as 300, or else ISO 8601 '
            'on each line.', self.complaint(azure_trace.read, path))

    @ddt.data('vm id,created,deleted,cores,memory',
              'vmid;vmcreated;vmdeleted;vmcorecountbucket;vmmemorybucket')
    def test_no_line_names_columns(self, line):
        self.assertEqual(
            f"file, line 1, vmid: '{line}' is not right; it has to be a "
            'first line that names the columns vmid, vmcreated, vmdeleted, '
            'vmcorecountbucket, vmmemorybucket, separated by commas; or else '
            'the 11 values of vmid, subscriptionid, deploymentid, vmcreated, '
            'vmdeleted, maxcpu, avgcpu, p95maxcpu, vmcategory, '
            'vmcorecountbucket, vmmemorybucket.',
            self.complaint(azure_trace.read, self.write(f'{line}\n')))

    def test_column_is_missing(self):
        path = self.write('vmid,vmcreated,vmdeleted,vmcorecountbucket\n')
        self.assertEqual(
            "file, line 1, vmmemorybucket: 'vmid,vmcreated,vmdeleted,"
            "vmcorecountbucket' is not right; it has to be a first line that "
            'names this column once, and the columns vmid, vmcreated, '
            'vmdeleted, vmcorecountbucket, vmmemorybucket.',
            self.complaint(azure_trace.read, path))

    @ddt.data(
        (b'', 'the file has no line with text'),
        (b'\n \n', 'the file has no line with text'),
        (HEAD.encode(), 'the trace has no server'),
        (HEAD.encode() + b'\xff', "'utf-8' codec can't decode byte 0xff in "
         'position 58: invalid start byte'),
        (gzip.compress(b'x' * 999)[:20], 'Compressed file ended before the '
         'end-of-stream marker was reached'),
        (gzip.compress(b'x')[:10] + b'\xff' * 20, 'Error -3 while '
         'decompressing data: invalid block type'))
    @ddt.unpack
    def test_unreadable(self, content, reason):
        self.assertEqual(
            f'file cannot be used: {reason}.',
            self.complaint(azure_trace.read, self.write(content)))

    def test_no_file(self):
        self.assertIn('No such file', self.complaint(
            azure_trace.read, str(self.folder / 'nowhere')))


class GeneratorTest(base.FilesTest):

    def _rows(self, seed=7):
        return list(generator.rows(random.Random(seed), 120, 21.0, 7.0))

    def test_it_can_be_repeated(self):
        self.assertEqual(self._rows(), self._rows())
        self.assertNotEqual(self._rows(), self._rows(8))

    def test_as_many_come_as_go(self):
        file = io.StringIO()
        csv.writer(file).writerows(self._rows())
        trace = azure_trace.read(self.write(file.getvalue()))
        self.assertEqual(120, sum(each.start == 0 for each in trace.servers))
        middle = 14 * workload.DAY
        now = sum(each.start <= middle < each.end for each in trace.servers)
        self.assertTrue(90 < now < 150, now)
        self.assertTrue(all(each.start % 300 == 0 for each in trace.servers))
