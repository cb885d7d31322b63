# SPDX-License-Identifier: Apache-2.0

"""Lists of servers are read, and servers come and go from then on."""

import datetime
import gzip
import json
import random

import ddt

from pcloud.tests.unit.simulation import base
from pcloud_simulator import server_list
from pcloud_simulator import workload

SMALL = workload.Size(4096, 2, 20)
FLAVORS = {'small': server_list.Flavor(SMALL, 15)}
DAY = workload.DAY
STILL = server_list.Turnover(1.0, 10.0 ** 6)


@ddt.ddt
class ReadTest(base.FilesTest):

    def _read(self, servers, hosts=('c1', 'c2'), turnover=STILL):
        return server_list.read(
            self.write(json.dumps(servers)), FLAVORS, frozenset(hosts),
            turnover, random.Random(1))

    def test_servers_are_where_they_are(self):
        trace = self._read([
            {'ID': 'a', 'Name': 'x', 'Flavor': 'small', 'Host': 'c2'},
            {'id': 'b', 'Flavor ID': 'small', 'hypervisor_hostname': 'c1'}])
        self.assertEqual(
            (workload.TraceServer(0.0, workload.FOREVER, SMALL, 'c2'),
             workload.TraceServer(0.0, workload.FOREVER, SMALL, 'c1')),
            trace.servers)
        self.assertEqual((DAY, None), (trace.seconds, trace.begin))

    def test_a_server_on_no_host_is_left_out(self):
        trace = self._read([
            {'ID': 'a', 'Flavor': 'small', 'Host': 'c1'},
            {'ID': 'b', 'Flavor': 'small', 'Host': 'of-a-pcloud'},
            {'ID': 'c', 'Flavor': 'small', 'Host': None}])
        self.assertEqual(['c1'], [each.host for each in trace.servers])
        self.assertIn('2 servers that are on no host of the file of hosts '
                      'are left out.', trace.notes)

    def test_hosts_without_names(self):
        trace = self._read([{'ID': 'a', 'Flavor': 'small', 'Host': 'c9'}], ())
        self.assertEqual(1, len(trace.servers))

    def test_a_server_without_a_host_takes_nothing(self):
        """Such as a server that is shelved; its flavor does not matter."""
        trace = self._read([
            {'ID': 'a', 'Flavor': 'small', 'Host': 'c9'},
            {'ID': 'b', 'Flavor': 'gone', 'Host': None},
            {'ID': 'c', 'Flavor': 'gone', 'Host': ''}], ())
        self.assertEqual(['c9'], [each.host for each in trace.servers])
        self.assertIn('2 servers without a host are left out.', trace.notes)

    def test_a_list_without_the_hosts(self):
        trace = self._read([{'ID': 'a', 'Flavor': 'small'}], ())
        self.assertEqual([None], [each.host for each in trace.servers])

    def _refusal(self, servers, hosts):
        return self.complaint(
            server_list.read, self.write(json.dumps(servers)), FLAVORS,
            frozenset(hosts), STILL, random.Random(1))

    def test_no_server_is_on_a_host_of_the_file(self):
        self.assertEqual(
            'No server of the list is on a host of the file of hosts. The '
            'list has hosts such as c1.test, and the file has hosts such as '
            'c1; the hosts of the file need the names that "openstack '
            'hypervisor list" shows.', self._refusal([
                {'ID': 'b', 'Flavor': 'small', 'Host': 'c2.test'},
                {'ID': 'a', 'Flavor': 'small', 'Host': 'c1.test'},
                {'ID': 'c', 'Flavor': 'small', 'Host': None}], ['c2', 'c1']))

    @ddt.data((), ('c1',))
    def test_nobody_sees_a_host(self, hosts):
        self.assertEqual(
            'No server of the list has a host; administrators alone see the '
            'hosts of servers.', self._refusal(
                [{'ID': 'a', 'Flavor': 'small', 'Host': None}], hosts))

    def test_a_disk_on_a_volume(self):
        for name in ('Image', 'Image Name', 'Image ID'):
            trace = self._read([
                {'ID': 'a', 'Flavor': 'small', 'Host': 'c1',
                 name: 'N/A (booted from volume)'}])
            self.assertEqual(5, trace.servers[0].size.disk_gb)

    def test_an_empty_name_of_a_flavor(self):
        """A client prints the id alone of a flavor that was deleted."""
        server = {'ID': 'a', 'Flavor Name': '', 'Flavor ID': 'small'}
        self.assertEqual(SMALL, self._read([server], ()).servers[0].size)
        self.assertIn(
            "server 1, Flavor ID: 'gone' is not right; it has to be a name "
            'or an id of the list of flavors; add a flavor that was deleted '
            'to that list.', self._refusal([{**server, 'Flavor ID': 'gone'}],
                                           ()))

    def test_too_many(self):
        """An error, instead of hours and all memory."""
        path = self.write(json.dumps(
            [{'ID': 'a', 'Flavor': 'small', 'Host': 'c1'}]))
        self.assertEqual(
            'In 60 days, 1 servers that live for 1e-06 days become 60000001, '
            'more than 5000000; choose fewer --days or a longer --lifetime.',
            self.complaint(
                server_list.read, path, FLAVORS, frozenset(),
                server_list.Turnover(60.0, 1e-6), random.Random(1)))

    def test_packed(self):
        text = json.dumps([{'ID': 'a', 'Flavor': 'small', 'Host': 'c1'}])
        read = [server_list.read(
            self.write(content), FLAVORS, frozenset(), STILL,
            random.Random(1)) for content in (
                text, gzip.compress(text.encode()))]
        self.assertEqual(read[0], read[1])

    def test_as_many_come_as_go(self):
        trace = self._read(
            [{'ID': str(number), 'Flavor': 'small', 'Host': 'c1'}
             for number in range(200)], turnover=server_list.Turnover(30, 5))
        self.assertTrue(1000 < len(trace.servers) < 1800, len(trace.servers))
        for moment in (0, 1, 12.5 * DAY, 29 * DAY, 30 * DAY):
            self.assertEqual(200, sum(
                each.start <= moment < each.end for each in trace.servers))
        self.assertEqual(
            200, sum(each.host is not None for each in trace.servers))
        starts = [each.start for each in trace.servers]
        self.assertEqual(sorted(starts), starts)

    def test_ages(self):
        """The age on average is the lifetime, where nobody states it."""
        trace = self._read([
            {'ID': 'a', 'Flavor': 'small', 'Host': 'c1',
             'Created At': '2026-10-01T02:00:00+02:00'},
            {'ID': 'b', 'Flavor': 'small', 'Host': 'c1',
             'Launched At': '2026-10-11T00:00:00'}],
            turnover=server_list.Turnover(1.0, None))
        self.assertEqual(
            datetime.datetime(2026, 10, 11, tzinfo=datetime.UTC),
            trace.begin)
        self.assertEqual(
            ('Servers live for 5.0 days on average.',), trace.notes)

    def test_ages_of_servers_that_are_left_out(self):
        """They tell when the list was made, and not how long servers live."""
        trace = self._read([
            {'ID': 'a', 'Flavor': 'small', 'Host': 'c1',
             'Created At': '2026-10-01'},
            {'ID': 'b', 'Flavor': 'small', 'Host': 'c9',
             'Created At': '2026-10-11'}],
            turnover=server_list.Turnover(1.0, None))
        self.assertEqual(
            datetime.datetime(2026, 10, 11, tzinfo=datetime.UTC),
            trace.begin)
        self.assertIn('Servers live for 10.0 days on average.', trace.notes)

    def test_no_ages(self):
        trace = self._read([{'ID': 'a', 'Flavor': 'small', 'Host': 'c1'}],
                           turnover=server_list.Turnover(1.0, None))
        self.assertEqual(
            ('Servers live for 30.0 days on average.',), trace.notes)

    def _complaint(self, text):
        return self.complaint(
            server_list.read, self.write(text), FLAVORS, frozenset(),
            STILL, random.Random(1))

    @ddt.data(
        ({'ID': 'a', 'Flavor': 'tiny'},
         "server 2, Flavor: 'tiny' is not right; it has to be a name or an "
         'id of the list of flavors; add a flavor that was deleted to that '
         'list.'),
        ({'ID': 'a'},
         "server 2, Flavor: '' is not right; it has to be a name or an id of "
         'the list of flavors; add a flavor that was deleted to that list.'),
        ({'Flavor': 'small'},
         "server 2, ID: '' is not right; it has to be an id of its own for "
         'each server.'),
        ({'ID': 'first', 'Flavor': 'small'},
         "server 2, ID: 'first' is not right; it has to be an id of its own "
         'for each server; server 1 has this id.'),
        ({'ID': 'a', 'Flavor': ['small']},
         "server 2, Flavor: '['small']' is not right; it has to be a text or "
         'a number.'),
        ({'ID': 'a', 'Flavor': 'small', 'created_at': 'yesterday'},
         "server 2, created_at: 'yesterday' is not right; it has to be a "
         'moment in ISO 8601, such as 2026-11-02T08:30:00Z or '
         '2026-11-02T10:30:00+02:00.'))
    @ddt.unpack
    def test_bad_server(self, members, complaint):
        self.assertEqual(f'file, {complaint}', self._complaint(json.dumps(
            [{'ID': 'first', 'Flavor': 'small'}, members])))

    @ddt.data(
        ('[', "file, line 1, character 2: 'Expecting value' is not right; it "
         'has to be JSON, as -f json prints JSON.'),
        ('{}', 'file cannot be used: the JSON is not a list of objects.'),
        ('[]', 'file cannot be used: the list has no server.'),
        ('[3]', "file, server 1, ID: '3' is not right; it has to be an object "
         'in JSON.'),
        (b'\xff', "file cannot be used: 'utf-8' codec can't decode byte 0xff "
         'in position 0: invalid start byte.'))
    @ddt.unpack
    def test_bad_list(self, text, complaint):
        self.assertEqual(complaint, self._complaint(text))


class FlavorsTest(base.FilesTest):

    def test_flavors(self):
        """A flavor is known by name and id; ephemeral disk is disk."""
        path = self.write(json.dumps([
            {'ID': '1', 'Name': 'small', 'RAM': 4096, 'Disk': 15,
             'Ephemeral': 5, 'VCPUs': 2},
            {'ID': '2', 'Name': 'none', 'RAM': 512, 'Disk': 0,
             'Ephemeral': 0, 'VCPUs': 1}]))
        small = FLAVORS['small']
        none = server_list.Flavor(workload.Size(512, 1))
        self.assertEqual(
            {'1': small, 'small': small, '2': none, 'none': none},
            server_list.flavors(path))

    def test_bad_flavor(self):
        path = self.write(json.dumps([{'ID': '1', 'Name': 'x', 'RAM': '4G'}]))
        self.assertEqual(
            "file, flavor 1, RAM: '4G' is not right; it has to be a whole "
            'number above 0, such as 4.',
            self.complaint(server_list.flavors, path))
