# SPDX-License-Identifier: Apache-2.0

"""Attributes of hosts: set, inherited, shown, audited, and scheduled by."""

import datetime
import threading
from unittest import mock

import fixtures
from nova.db.api import models
from nova import objects
from oslo_utils import timeutils

from pcloud.audit import all_checks
from pcloud.audit import attribute_checks
from pcloud.backend.aggregates import rows
from pcloud.backend.calls import announce
from pcloud.backend.changes import writes
from pcloud.objects.placing import attribute_aggregates
from pcloud.objects.placing import host_attributes
from pcloud.tests.support import shared_cloud

PATH = '/os-pcloud-attributes'


class AttributesTestCase(shared_cloud.SharedCloudTestCase):

    def put(self, name, value, *hosts):
        """Give hosts a value, and return all hosts that have it now."""
        return self.admin.call_json('PUT', f'{PATH}/{name}', {
            'attribute': {'value': value, 'hosts': list(hosts)}}
        )['attribute']['hosts']

    def refused(self, status, name, value, *hosts):
        """Return the message of a refused change."""
        before = self.dump()
        response = self.admin.call('PUT', f'{PATH}/{name}', {
            'attribute': {'value': value, 'hosts': list(hosts)}})
        self.assertEqual(status, response.status_code, response.text)
        self.assertEqual(before, self.dump())
        (fault,) = response.json().values()
        return fault['message']

    def listed(self):
        return [(each['name'], each['value'], each['hosts']) for each in
                self.admin.get_json(PATH)['attributes']]

    def ordinary(self, name, hosts, **metadata):
        """Make an aggregate as an administrator does by hand."""
        made = self.admin.post_aggregate({'aggregate': {'name': name}})
        for host in hosts:
            self.admin.add_host_to_aggregate(made['id'], host)
        # Nova's own call refuses what is not valid.
        aggregate = objects.Aggregate.get_by_id(self.context, made['id'])
        aggregate.update_metadata({
            f'pcloud:attr:{key}': value for key, value in metadata.items()})
        self.scheduler.manager.host_manager.update_aggregates([aggregate])

    def in_days(self, days):
        """Return a date from now, as an administrator writes it."""
        moment = timeutils.utcnow() + datetime.timedelta(days=days)
        return moment.strftime('%Y-%m-%dT%H:%M:%SZ')


class ApiTest(AttributesTestCase):

    def test_life(self):
        self.assertEqual([], self.listed())
        self.assertEqual(['node-1', 'node-2'],
                         self.put('rack', 'r=1', 'node-2', 'node-1'))
        self.assertEqual(['node-1', 'node-2'],
                         self.put('rack', 'r=1', 'node-1'))
        aggregate = self.aggregate('Pcloud:attribute:rack=r=1')
        self.assertEqual({'pcloud:type': 'host_attribute',
                          'pcloud:attr:rack': 'r=1'}, aggregate.metadata)
        # A host has one value; the others keep theirs.
        self.assertEqual(['node-1', 'node-3'],
                         self.put('rack', 'r2', 'node-1', 'node-3'))
        self.assertEqual([('rack', 'r2', ['node-1', 'node-3']),
                          ('rack', 'r=1', ['node-2'])], self.listed())
        self.admin.call_json('DELETE', f'{PATH}/rack?host=node-1&host=node-2')
        self.assertEqual([('rack', 'r2', ['node-3'])], self.listed())
        self.assertEqual([], [each for each in self.dump()['aggregates']
                              if 'r=1' in each])
        self.put('hardware_class', '2.5', 'node-3')
        self.admin.call_json('DELETE', f'{PATH}/rack')
        self.assertEqual([('hardware_class', '2.5', ['node-3'])],
                         self.listed())
        for query in ('', '?host=node-1'):
            response = self.admin.call('DELETE', f'{PATH}/rack{query}')
            self.assertEqual(404, response.status_code)

    def test_list_some(self):
        self.put('rack', 'r1', 'node-1', 'node-2')
        self.put('rack', 'r2', 'node-3')
        self.put('gpu', 'r1', 'node-1')
        for query, expected in (
                ('name=rack', ['r1', 'r2']), ('name=rack&value=r1', ['r1']),
                ('value=r1', ['r1', 'r1']), ('host=node-3', ['r2']),
                ('host=node-1&name=gpu', ['r1']), ('host=nowhere', []),
                ('name=Rack', []), ('value=R1', [])):
            self.assertEqual(expected, [
                each['value'] for each in self.admin.get_json(
                    f'{PATH}?{query}')['attributes']], query)
        shown, = self.admin.get_json(
            f'{PATH}?host=node-2')['attributes']
        self.assertEqual(['node-1', 'node-2'], shown['hosts'])
        for query in ('nome=rack', 'name=a:b', 'value=', 'host=a%20b',
                      'name=rack&name=gpu'):
            self.assertEqual(400, self.admin.call(
                'GET', f'{PATH}?{query}').status_code, query)

    def test_bad_values(self):
        for name, value, expected in (
                ('platform_version', 'new', 'a stamp such as 20261231T2359'),
                ('platform_version', '20261331T235959Z', 'a stamp such as'),
                ('next_reboot', 'tomorrow', 'ISO 8601, such as 2026-12-31'),
                ('hardware_class', 'NaN', 'a number such as 3'),
                ('rack', ' r1', 'without a blank at either end'),
                ('rack', '', 'has to be 1 to 255 characters'),
                ('gpu', 'x' * 5000, 'xx... is not right; it has to be 1 to'),
                ('gpu', 'x' * 250, 'Nova holds 255')):
            self.assertIn(expected, self.refused(400, name, value, 'node-1'))
        self.assertIn('1 to 64 letters',
                      self.refused(404, 'no:colon', 'x', 'node-1'))

    def test_names_that_mean_something_else_in_constraints(self):
        for name in ('cpu', 'RAM', 'storage', 'host', 'role', 'ec2-zone'):
            response = self.admin.call(
                'PUT', f'/os-pcloud-attributes/{name}',
                {'attribute': {'value': 'x', 'hosts': ['node-1']}})
            self.assertEqual(400, response.status_code, response.text)
            self.assertIn(f"'{name}'", response.text)

    def test_names_that_differ_in_letter_case_alone(self):
        for name, right in (('Rack', 'rack'), ('NEXT_REBOOT', 'next_reboot'),
                            ('Platform_version', 'platform_version')):
            self.assertIn(f"use '{right}'",
                          self.refused(409, name, '1', 'node-1'))
        self.put('gpu', 'a100', 'node-1')
        self.assertIn("use 'gpu'", self.refused(409, 'GPU', 'a100', 'node-2'))
        # What an administrator has set by hand is an attribute too.
        self.ordinary('by hand', ['node-2'], Ssd='yes', Rack='r1')
        self.assertIn("use 'Ssd'", self.refused(409, 'ssd', 'no', 'node-1'))
        self.put('Ssd', 'no', 'node-1')
        self.put('rack', 'r1', 'node-1')
        self.assertEqual(
            [('attribute-spellings', 'Pcloud:attribute:rack')],
            [(each.kind, each.aggregate) for each in
             attribute_checks.check(self.context)
             if each.kind == 'attribute-spellings'])

    def test_hosts_that_are_not_there(self):
        self.refused(400, 'rack', 'r1')
        self.assertIn('nowhere', self.refused(404, 'rack', 'r1', 'node-1',
                                              'nowhere'))

    def test_one_kind_of_platform_in_a_cloud(self):
        self.put('platform_version', '1.2', 'node-1', 'node-2')
        self.ordinary('old', ['node-3'], platform_version='1.1')
        self.assertIn("'1.1'", self.refused(
            409, 'platform_version', '20260101T000000Z', 'node-1', 'node-2'))
        self.put('platform_version', '20260101T000000Z', 'node-1', 'node-2',
                 'node-3')

    def test_values_that_databases_cannot_tell_apart(self):
        self.put('rack', 'r1', 'node-1')
        self.assertIn("'rack=r1'", self.refused(409, 'rack', 'R1', 'node-2'))

    def test_what_is_left_behind_is_in_nobodys_way(self):
        self.make_aggregate('Pcloud:attribute:rack=Z9', **{
            'pcloud:type': 'host_attribute', 'pcloud:attr:rack': 'Z9'})
        self.assertEqual(['node-1'], self.put('rack', 'r1', 'node-1'))
        self.assertNotIn('Z9', str(self.dump()['aggregates']))
        self.make_aggregate('Pcloud:attribute:rack=Z9', **{
            'pcloud:type': 'host_attribute', 'pcloud:attr:rack': 'Z9'})
        self.assertEqual(['node-1'], self.put('rack', 'z9', 'node-1'))

    def test_an_aggregate_that_was_changed_by_hand(self):
        self.put('rack', 'r1', 'node-1')
        self.make_aggregate('Pcloud:attribute:rack=r2', **{
            'pcloud:type': 'host_attribute', 'pcloud:attr:rack': 'r3'})
        self.assertIn('Pcloud:attribute:rack=r2', self.refused(
            409, 'rack', 'r2', 'node-1'))

    def test_a_value_that_many_hosts_have(self):
        """A scheduler walks through all hosts of an aggregate it is told of.

        A value of many hosts is in several aggregates; people see one value.
        """
        self.useFixture(fixtures.MockPatchObject(
            attribute_aggregates, 'MOST_HOSTS', 2))
        name = 'Pcloud:attribute:rack=r1'
        self.put('rack', 'r1', 'node-1')
        self.assertEqual(
            ['node-1', 'node-2', 'node-3', 'node-4'],
            self.put('rack', 'r1', 'node-4', 'node-3', 'node-2'))
        self.assertEqual(
            {name: ['node-1', 'node-2'], f'{name} (2)': ['node-3', 'node-4']},
            self.parts())
        with mock.patch.object(announce, 'changed') as told:
            self.put('rack', 'r2', 'node-4')
        (_, uuids), _ = told.call_args
        self.assertEqual({self.aggregate(f'{name} (2)').uuid, self.aggregate(
            'Pcloud:attribute:rack=r2').uuid}, set(uuids))
        self.assertEqual([('rack', 'r1', ['node-1', 'node-2', 'node-3']),
                          ('rack', 'r2', ['node-4'])], self.listed())
        self.assertEqual([], [*attribute_checks.check(self.context)])
        # What has left makes place for others, and an aggregate that is gone
        # comes back.
        self.admin.call_json('DELETE', f'{PATH}/rack?host=node-1&host=node-2')
        self.put('rack', 'r1', 'node-4')
        self.assertEqual(
            {f'{name} (2)': ['node-3', 'node-4']}, self.parts())
        self.assertIn("'rack=r1'", self.refused(409, 'rack', 'R1', 'node-1'))
        self.put('rack', 'r1', 'node-1')
        self.assertEqual(['node-1'], self.parts()[name])
        self.admin.call_json('DELETE', f'{PATH}/rack')
        self.assertEqual({}, self.parts())

    def test_values_that_are_named_like_parts(self):
        self.useFixture(fixtures.MockPatchObject(
            attribute_aggregates, 'MOST_HOSTS', 1))
        self.put('rack', 'r1 (2)', 'node-1')
        self.put('rack', 'r1', 'node-2', 'node-3')
        self.put('rack', 'r1 (3)', 'node-4')
        name = 'Pcloud:attribute:rack=r1'
        self.assertEqual(
            {name: ['node-2'], f'{name} (2)': ['node-1'],
             f'{name} (3)': ['node-3'], f'{name} (3) (2)': ['node-4']},
            self.parts())
        self.assertEqual(
            [('rack', 'r1', ['node-2', 'node-3']),
             ('rack', 'r1 (2)', ['node-1']), ('rack', 'r1 (3)', ['node-4'])],
            self.listed())
        self.assertEqual([], [*attribute_checks.check(self.context)])
        self.make_aggregate(f'{name} (x)', **{
            'pcloud:type': 'host_attribute', 'pcloud:attr:rack': 'r1'})
        self.assertEqual(['incomplete-aggregate'], [
            each.kind for each in attribute_checks.check(self.context)])

    def parts(self):
        """Return the hosts of the aggregates of racks."""
        return {each.name: sorted(each.hosts)
                for each in rows.read(self.context, models.Aggregate.name.like(
                    'Pcloud:attribute:rack=%'))}

    def test_nobody_else(self):
        for method, path, body in (
                ('GET', PATH, None), ('DELETE', f'{PATH}/rack', None),
                ('PUT', f'{PATH}/rack', {'attribute': {
                    'value': 'r1', 'hosts': ['node-1']}})):
            response = self.alice.call(method, path, body)
            self.assertEqual(403, response.status_code)

    def test_two_at_the_same_moment(self):
        """One comes after the other, whole."""
        meeting = threading.Barrier(2)
        check = host_attributes._check_hosts

        def meet(*args):
            check(*args)
            meeting.wait()

        with mock.patch.object(host_attributes, '_check_hosts', meet):
            threads = [threading.Thread(
                target=host_attributes.put,
                args=(self.context.elevated(), 'rack', rack, ['node-1']))
                for rack in ('r1', 'r2')]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        (_, rack, hosts), = self.listed()
        self.assertIn(rack, ('r1', 'r2'))
        self.assertEqual(['node-1'], hosts)

    def test_dies_between_two_values(self):
        self.put('rack', 'r1', 'node-1')
        before = self.dump()
        with mock.patch.object(writes.Rows, 'leave', side_effect=OSError):
            self.assertRaises(OSError, host_attributes.put, self.context,
                              'rack', 'r2', ['node-1'])
        self.assertEqual(before, self.dump())
        self.put('rack', 'r2', 'node-1')
        self.assertEqual([], all_checks.find(self.context, settle=0))


class AuditTest(AttributesTestCase):

    def test_clean(self):
        self.put('rack', 'r1', 'node-1')
        self.ordinary('batch', ['node-1', 'node-2'], rack='r2',
                      next_reboot=self.in_days(3))
        self.ordinary('other batch', ['node-1'],
                      next_reboot=self.in_days(5))
        self.assertEqual([], all_checks.find(self.context, settle=0))

    def test_what_it_names(self):
        self.ordinary('one', ['node-1'], rack='r1', hardware_class='best')
        self.ordinary('two', ['node-1'], rack='r2')
        self.make_aggregate('Pcloud:attribute:rack=r3', **{
            'pcloud:type': 'host_attribute', 'pcloud:attr:rack': 'r3'})
        self.make_aggregate('Pcloud:attribute:rack=r4', **{
            'pcloud:type': 'host_attribute', 'pcloud:attr:rack': 'r5'})
        found = all_checks.find(self.context, settle=0)
        self.assertEqual(
            [('attribute-conflict', 'node-1'),
             ('attribute-not-valid', 'hardware_class'),
             ('attribute-without-hosts', ''),
             ('incomplete-aggregate', '')],
            sorted((each.kind, each.subject) for each in found))
        empty = next(each for each in found if each.repair)
        self.assertIn('deleted', empty.repair(self.context))
        self.assertEqual(3, len(all_checks.find(self.context, settle=0)))

    def _missing(self):
        return {each.aggregate.removeprefix('Pcloud:attribute:'): each.message
                for each in all_checks.gaps(self.context)
                if each.kind == 'attribute-missing'}

    def test_hosts_without_what_others_have(self):
        self.make_pool('gpu', 'node-1', 'node-2')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'web', 'gpu')
        # Nobody uses any of them.
        self.assertEqual({}, self._missing())
        # Dates are for hosts that are rebooted; other names are free.
        self.put('next_reboot', self.in_days(3), 'node-1')
        self.put('gpu', 'yes', 'node-1')
        self.assertEqual({}, self._missing())
        self.put('platform_version', '1.2', 'node-3')
        self.put('hardware_class', '1', 'node-1', 'node-2')
        self.ordinary('left', ['node-1', 'node-3'], rack='left')
        found = self._missing()
        self.assertEqual({'platform_version', 'rack'}, found.keys())
        self.assertIn('2 hosts lack the attribute, which 1 host has: node-1, '
                      'node-2. ', found['platform_version'])
        self.assertIn('1 host lacks the attribute, which 2 hosts have: '
                      'node-2. ', found['rack'])
        self.put('rack', 'right', 'node-2')
        self.put('platform_version', '1.2', 'node-1', 'node-2')
        self.assertEqual({}, self._missing())


class PoolTest(AttributesTestCase):

    def test_attributes_of_the_hosts_of_a_pool(self):
        """Of all sources, and for administrators alone."""
        self.make_pool('gpu', 'node-1', 'node-2')
        self.put('rack', 'r1', 'node-1', 'node-3')
        self.ordinary('batch', ['node-1', 'node-2'], rack='r9',
                      platform_version='1.2')
        path = '/os-host-flavors/gpu'
        self.assertEqual(
            {'node-1': {'rack': 'r1', 'platform_version': '1.2'},
             'node-2': {'rack': 'r9', 'platform_version': '1.2'}},
            {each['host']: each['attributes'] for each in
             self.admin.get_json(path)['host_flavor']['hosts']})
        self.assertNotIn('r1', self.alice.call('GET', path).text)


class HostsTest(AttributesTestCase):
    """What a Pcloud's owner sees of its hosts."""

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', *self.hosts)
        pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{pcloud}/hosts'
        self.real = {name: self.add_host(self.alice, pcloud, name, 'gpu')
                     for name in 'abc'}

    def _shown(self, member):
        response = self.alice.call('GET', self.path)
        self.assertNotIn('cellar', response.text)
        self.assertNotIn('node-', response.text)
        return [host[member] for host in response.json()['hosts']]

    def test_racks_are_ordinals(self):
        self.assertEqual([None] * 3, self._shown('rack'))
        self.put('rack', 'cellar', self.real['b'], self.real['c'])
        self.assertEqual([None, 1, 1], self._shown('rack'))
        self.ordinary('second cellar', [self.real['a'], self.real['b']],
                      rack='cellar 2')
        # Pcloud's own aggregate wins over an ordinary one.
        self.assertEqual([1, 2, 2], self._shown('rack'))

    def test_next_reboot(self):
        self.assertEqual([None] * 3, self._shown('next_reboot'))
        soon, later = self.in_days(3), self.in_days(30)
        self.put('next_reboot', later, self.real['a'], self.real['b'])
        self.ordinary('batch', [self.real['a']], next_reboot=soon)
        self.ordinary('gone', list(self.real.values()),
                      next_reboot=self.in_days(-1))
        self.assertEqual([soon, later, None], self._shown('next_reboot'))
        one = self.alice.get_json(f'{self.path}/a')['host']
        self.assertEqual(soon, one['next_reboot'])

    def _one_by_one(self):
        """Check that each host is shown alone as in the list."""
        for host in self.alice.get_json(self.path)['hosts']:
            for name in (host['name'], host['name'].upper()):
                alone = self.alice.get_json(f'{self.path}/{name}')
                self.assertEqual({'host': host}, alone)

    def test_a_host_is_shown_as_in_the_list(self):
        self.put('rack', 'cellar', self.real['b'])
        self.put('rack', 'attic', self.real['a'], self.real['c'])
        self.put('next_reboot', self.in_days(3), self.real['b'])
        self._one_by_one()
        # A host whose row of the node is lost.
        self.write_metadata(self.path.split('/')[2], **{
            f'pcloud:node:{self.real["a"]}': None})
        self._one_by_one()
        self.assertEqual(
            404, self.alice.call('GET', f'{self.path}/d').status_code)

    def test_the_rack_of_a_new_host(self):
        self.alice.call_json('PUT', f'{self.path}/b', {
            'host': {'state': 'disabled'}})
        self.put('rack', 'cellar', self.real['c'])
        # Any host that is free then.
        self.put('rack', 'attic', *(
            self.hosts.keys() - {self.real['a'], self.real['c']}))
        self.alice.call_json('DELETE', f'{self.path}/b')
        added = self.alice.call_json('POST', self.path, {
            'host': {'name': 'd', 'host_flavor': 'gpu'}})['host']
        self.assertEqual(2, added['rack'])
        self.assertEqual([None, 1, 2], self._shown('rack'))

    def test_constant_queries(self):
        self.assertEqual({}, host_attributes.effective(self.context, []))
        self.put('rack', 'cellar', 'node-1', 'node-2')
        with mock.patch.object(
                rows, 'assemble', wraps=rows.assemble) as read:
            found = host_attributes.effective(self.context, list(self.hosts))
        self.assertEqual(1, read.call_count)
        self.assertEqual({'node-1': {'rack': 'cellar'},
                          'node-2': {'rack': 'cellar'}}, found)


class SchedulingTest(AttributesTestCase):
    """Which host a server gets, of hosts that are alike but for this."""

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'RebootFilter'],
                   group='filter_scheduler')

    def _booted_on(self):
        server = self.boot(self.alice)
        host = self.host_of(server)
        self._delete_server(server)
        return host

    def _always(self, host):
        self.assertEqual([host] * 3, [self._booted_on() for _ in range(3)])

    def test_newer_platform(self):
        self.put('platform_version', '1.10', 'node-3')
        self.put('platform_version', '1.9', 'node-1', 'node-2')
        self._always('node-3')
        self.put('platform_version', '1.8', 'node-4')
        self.flags(platform_weight_multiplier=-1.0, group='pcloud')
        self._always('node-4')

    def test_later_reboot(self):
        self.put('next_reboot', self.in_days(3), 'node-1', 'node-2')
        self.put('next_reboot', self.in_days(20), 'node-3')
        self.put('next_reboot', self.in_days(50), 'node-4')
        self._always('node-4')
        self.put('next_reboot', self.in_days(-1), 'node-2')
        self._always('node-2')

    def test_better_hardware(self):
        self.put('hardware_class', '1', 'node-1', 'node-2', 'node-3')
        self.put('hardware_class', '10', 'node-2')
        self._always('node-2')
        self.ordinary('spared', ['node-2'])
        made = next(each for each in self.admin.api_get('/os-aggregates')
                    .body['aggregates'] if each['name'] == 'spared')
        self.admin.api_post(f'/os-aggregates/{made["id"]}/action', {
            'set_metadata': {'metadata': {
                'hardware_class_weight_multiplier': '-5'}}})
        self.assertNotEqual('node-2', self._booted_on())

    def test_platform_before_reboot_before_memory(self):
        self.put('platform_version', '2', 'node-1', 'node-2')
        self.put('platform_version', '1', 'node-3', 'node-4')
        self.put('next_reboot', self.in_days(3), 'node-1', 'node-3')
        self._always('node-2')

    def test_a_value_that_is_not_valid(self):
        self.ordinary('oops', ['node-1'], hardware_class='much')
        self.put('hardware_class', '1', 'node-2')
        for _ in range(2):
            self.assertEqual('node-2', self._booted_on())
        self.assertEqual(
            1, self.stdlog.logger.output.count("'much' is not valid"))

    def test_schedulers_forget_a_value_that_no_host_has(self):
        hosts = self.scheduler.manager.host_manager

        def known():
            # The scheduler may be at it, so these are copies.
            its, aggregates = (tuple(hosts.host_aggregates_map['node-1']),
                               dict(hosts.aggs_by_id))
            return sorted(
                aggregates[each].metadata['pcloud:attr:rack']
                for each in its if each in aggregates and
                'pcloud:attr:rack' in aggregates[each].metadata)

        for value in 'r1', 'r2':
            self.put('rack', value, 'node-1')
            self.wait_until(lambda: self.assertEqual([value], known()))
        self.admin.call_json(
            'DELETE', '/os-pcloud-attributes/rack?host=node-1')
        self.wait_until(lambda: self.assertEqual([], known()))

    def test_spread_of_a_project(self):
        self.flags(ram_weight_multiplier=-9.0, group='filter_scheduler')
        self.flags(owner_spread_weight_multiplier=99.0, group='pcloud')
        self.boot(self.bob)

        def hosts():
            return sorted(self.host_of(each)
                          for each in self.alice.get_servers())

        for _ in range(2):
            self.boot(self.alice)
        two = hosts()
        self.assertEqual(2, len(set(two)))
        self.boot(self.alice, min_count=2)
        four = self.wait_until(lambda: self._all_of_four(hosts()))
        self.assertLess(set(two), set(four))

    def _all_of_four(self, hosts):
        self.assertEqual(4, len(set(hosts)), hosts)
        return hosts

    def test_reboot_filter(self):
        self.put('next_reboot', self.in_days(2), 'node-1', 'node-2',
                 'node-3')
        self.put('next_reboot', self.in_days(-2), 'node-4')
        self.flags(reboot_weight_multiplier=-9.0, group='pcloud')
        self.assertNotEqual('node-4', self._booted_on())
        self.flags(reboot_filter_days=2, group='pcloud')
        self._always('node-4')
        self.put('next_reboot', self.in_days(1), 'node-4')
        server = self.boot(self.alice, expected='ERROR')
        self.assertIn('Each host that could take the server is rebooted '
                      'within 2 days.', self.fault(server))
        self.flags(reboot_filter_days=1, group='pcloud')
        self.boot(self.alice)
