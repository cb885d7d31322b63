# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage explain`` on a real Nova, beside what Nova then does."""

import argparse
import contextlib
import datetime
import io
import json
from unittest import mock

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models as main_models
from nova import objects
from nova.scheduler import filters as nova_filters
from nova.scheduler import host_manager
from oslo_utils import timeutils
import sqlalchemy as sa

from pcloud.cmd import explain
from pcloud import exception
from pcloud.explain import conductor
from pcloud.explain import schedule
from pcloud.rules.placing import locality
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

OURS = ['PcloudFilter', 'ConstraintsFilter', 'AffinityFilter',
        'LocalityFilter', 'ColocationFilter', 'RebootFilter']


class OddFilter(nova_filters.BaseHostFilter):
    """Somebody else's: keeps hosts with an odd number."""

    def host_passes(self, host_state, spec):
        return int(host_state.host[-1]) % 2 == 1


class ExplainTestCase(shared_cloud.SharedCloudTestCase):
    """Every host has 10 cpus (160 to give), 7680 MiB and 1028 GiB of disk."""

    filters = ['ComputeFilter', *OURS]

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=self.filters, group='filter_scheduler')

    def ask(self, *arguments):
        """Run the command; return its exit status and what it prints."""
        parser = argparse.ArgumentParser()
        explain.add_parser(parser.add_subparsers())
        command = parser.parse_args(['explain', *arguments])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            status = command.run(command)
        return status, printed.getvalue()

    def explain(self, *arguments):
        """Return what it prints as JSON; the exit status fits it."""
        if '--server' not in arguments and '--flavor' not in arguments:
            arguments = ('--flavor', '1', *arguments)
        status, printed = self.ask('--format', 'json', *arguments)
        found = json.loads(printed)
        self.assertEqual(0 if found['outcome']['found'] else 1, status)
        return found

    def step(self, found, rule):
        """Return how many hosts a filter was asked about, kept, and why."""
        each, = (each for each in found['filters'] if each['rule'] == rule)
        return each['before'], each['after'], each['alone'], {
            reason['reason']: reason['hosts'] for reason in each['reasons']}

    def why(self, found, part='placement'):
        return {each['reason']: each['hosts']
                for each in found[part]['reasons']}


class ExplainTest(ExplainTestCase):
    """The outcome of requests of all kinds."""

    def flavor(self, flavor_id, **more):
        self.make_flavor(flavor_id, name=f'name-{flavor_id}', **more)

    def rows(self):
        """Return all that there is: rows of all databases, allocations."""
        found = {'placement': [
            (each['uuid'], each['generation'], self.placement.get(
                f'/resource_providers/{each["uuid"]}/allocations').body)
            for each in self._get_all_providers()]}
        with api_db.context_manager.reader.using(self.context) as session:
            found['api'] = self._tables(session, api_models.BASE)
        for cell in objects.CellMappingList.get_all(self.context):
            with nova_context.target_cell(self.context, cell) as context, \
                    main_db.get_context_manager(
                        context).reader.using(context) as session:
                found[cell.name] = self._tables(session, main_models.BASE)
        return found

    def _tables(self, session, models):
        # Services and their hosts report all the time.
        return {table.name: sorted(map(repr, session.execute(
            sa.select(table)).all())) for table in
            models.metadata.sorted_tables if table.name not in (
                'services', 'compute_nodes')}

    def test_it_claims_and_changes_nothing(self):
        self.make_pool('gpu', 'node-1')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'web', 'gpu')
        failed = self.boot(self.alice, {'pcloud': pcloud}, 'ERROR',
                           flavorRef='5')
        running = self.boot(self.alice, {'pcloud': pcloud})
        before = self.rows()
        self.explain()
        self.explain('--hint', f'pcloud={pcloud}', '--project', base.ALICE)
        self.explain('--server', failed['id'])
        self.explain('--server', running['id'])
        self.assertEqual(before, self.rows())

    def test_without_a_hint(self):
        self.make_pool('gpu', 'node-1', 'node-2')
        found = self.explain()
        self.assertEqual({'node-3', 'node-4'}, {*found['outcome']['hosts']})
        self.assertEqual(
            {'it is in the pool of host flavor gpu': 2}, self.why(found))
        self.assertEqual((2, 2, 2, {}), self.step(found, 'PcloudFilter'))
        self.disable_service('node-3')
        self.set_down('node-4')
        found = self.explain()
        self.assertEqual({'it is in the pool of host flavor gpu': 2,
                          'its compute service is disabled': 1},
                         self.why(found))
        self.assertEqual(
            (1, 0, 0, {'its compute service is down': 1}),
            self.step(found, 'ComputeFilter'))
        self.assertEqual(
            'No host: after filter ComputeFilter none is left, because its '
            'compute service is down (1 host).', found['outcome']['text'])
        # What stands behind it is told too.
        self.assertEqual((0, 0, 1, {}), self.step(found, 'PcloudFilter'))

    def test_with_a_hint(self):
        self.make_pool('gpu', 'node-1', 'node-2')
        pcloud = self.make_pcloud(self.alice)
        hint = '--hint', f'pcloud={pcloud}'
        mine = (*hint, '--project', base.ALICE)
        found = self.explain(*mine)
        self.assertIn('request filter pcloud_aggregates refuses: Pcloud '
                      f'{pcloud} cannot be used: it has no enabled host',
                      found['outcome']['text'])
        host = self.add_host(self.alice, pcloud, 'web', 'gpu')
        other = self.add_host(self.alice, pcloud, 'db', 'gpu', enable=False)
        found = self.explain(*mine)
        self.assertEqual([host], found['outcome']['hosts'])
        self.assertEqual(f'A server would be started on {host}.',
                         found['outcome']['text'])
        self.assertEqual({f'it is not in Pcloud {pcloud}': 2},
                         self.why(found))
        self.assertEqual(
            (2, 1, 1, {'the host is disabled in the Pcloud': 1}),
            self.step(found, 'PcloudFilter'))
        each, = (each for each in found['filters']
                 if each['rule'] == 'PcloudFilter')
        self.assertEqual([other], [row['host'] for row in each['dropped']])
        # Nobody's server is not for it.
        for whose in ((), ('--project', base.BOB)):
            found = self.explain(*hint, *whose)
            self.assertIn('the project is not one of its tenants',
                          found['outcome']['text'])

    def test_the_default_of_the_project(self):
        self.make_pool('gpu', 'node-1')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'gpu')
        for mode, hint in (('strict', 'pcloud'), ('prefer', 'pcloud_prefer')):
            self.alice.call_json(
                'PUT', f'/os-pcloud-policies/project/{base.ALICE}', {
                    'policy': {'default_pcloud': {
                        'pcloud': pcloud, 'mode': mode}}})
            found = self.explain('--project', base.ALICE)
            self.assertEqual('project', found['default_pcloud'])
            self.assertIn(f'{hint}={pcloud}', found['request']['hints'])
            self.assertEqual(['node-1'], found['outcome']['hosts'])
            self.assertEqual(1, self.step(found, 'PcloudFilter')[2])
            found = self.explain('--project', base.ALICE,
                                 '--hint', 'pcloud=none')
            self.assertIsNone(found['default_pcloud'])
            self.assertNotIn('node-1', found['outcome']['hosts'])

    def test_no_room(self):
        self.flavor('huge', memory_mb=7400)
        self.flavor('wide', vcpus=11)
        self.boot(self.admin, host='node-1')
        found = self.explain('--flavor', 'huge')
        self.assertEqual(3, found['placement']['after'])
        self.assertEqual(
            [{'host': 'node-1',
              'reason': 'it has too little left for 7400 MiB of memory',
              'detail': '7168 MiB of memory are left'}],
            found['placement']['dropped'])
        found = self.explain('--flavor', 'name-wide')
        self.assertEqual(0, found['placement']['after'])
        self.assertIn('Placement has no candidate', found['outcome']['text'])
        found = self.explain('--flavor', 'wide', '--availability-zone', 'az1')
        self.assertEqual(
            {'it is not in availability zone az1': 2,
             'it is too small for one server of this size, or does not have '
             'what is asked for together': 2}, self.why(found))
        error = self.assertRaises(exception.NotFound, self.explain,
                                  '--availability-zone', 'az3')
        self.assertIn('there is az1, az2.', str(error))

    def test_nothing_is_asked_for_each_host(self):
        with mock.patch.object(
                objects.InstanceList, 'get_uuids_by_host') as asked:
            self.assertEqual(4, self.explain()['placement']['after'])
        asked.assert_not_called()

    def test_the_limit_of_candidates(self):
        self.flags(max_placement_results=1, group='scheduler')
        found = self.explain()
        self.assertEqual({'it has capacity, but Placement is asked for 1 '
                          'candidates only (max_placement_results)': 3},
                         self.why(found))

    def test_our_other_filters(self):
        self.flags(reboot_filter_days=7, group='pcloud')
        soon = timeutils.utcnow() + datetime.timedelta(days=2)
        for name, value, hosts in (
                ('next_reboot', soon.isoformat(timespec='seconds') + 'Z',
                 ['node-1']),
                ('rack', 'r1', ['node-1', 'node-2']),
                ('rack', 'r2', ['node-3'])):
            self.admin.call_json('PUT', f'/os-pcloud-attributes/{name}', {
                'attribute': {'value': value, 'hosts': hosts}})
        found = self.explain('--hint', 'constraints=rack=r1 ram=4G')
        self.assertEqual(
            (4, 2, 2, {'it does not meet the machine constraints rack=r1 '
                       '(request)': 2}),
            self.step(found, 'ConstraintsFilter'))
        self.assertEqual(
            (2, 1, 3, {'it is rebooted within 7 days': 1}),
            self.step(found, 'RebootFilter'))
        self.assertEqual(['node-2'], found['outcome']['hosts'])
        found = self.explain('--hint', 'constraints=ram=4T cpu=10')
        self.assertEqual(
            (4, 0, 0, {'it does not meet the machine constraints ram=4T '
                       '(request)': 4}),
            self.step(found, 'ConstraintsFilter'))
        self.assertIn('No host that could take the server meets the machine '
                      'constraints ram=4T', found['outcome']['text'])
        self.assertIn('its ram is 8192M', str(found['filters']))
        self._locality_and_services()

    def _locality_and_services(self):
        first = self.boot(self.admin, {'service': 'web'}, host='node-2')
        mine = '--project', base.CAROL
        found = self.explain(*mine, '--hint', f'far={first["id"]}')
        self.assertEqual(
            (4, 2, 2, {locality.ON_FAR: 1, locality.IN_FAR_RACK: 1}),
            self.step(found, 'LocalityFilter'))
        found = self.explain(*mine, '--hint', f'near={first["id"]}')
        self.assertEqual((4, 1, 1, {locality.NOT_NEAR: 3}),
                         self.step(found, 'LocalityFilter'))
        self.flavor('mate', extra_specs={'pcloud:co_located': 'allow'})
        found = self.explain(*mine, '--flavor', 'mate', '--hint', 'in=web')
        self.assertEqual(
            (4, 1, 1, {"nothing of the project that is known as 'web' is on "
                       'it': 3}), self.step(found, 'ColocationFilter'))
        found = self.explain('--flavor', 'mate', '--hint', 'in=web')
        self.assertEqual(
            (4, 0, 0, {"nothing of the project that is known as 'web' is on "
                       'a host': 4}), self.step(found, 'ColocationFilter'))

    def test_placement_keys(self):
        self.admin.call_json('PUT', '/os-pcloud-policies/cloud/default', {
            'policy': {'system_keys': ['bad=1:-50']}})
        aggregate = self.admin.post_aggregate({'aggregate': {'name': 'bad'}})
        self.admin.post_aggregate_action(aggregate['id'], {
            'set_metadata': {'metadata': {'pcloud:key:bad': '1'}}})
        self.admin.add_host_to_aggregate(aggregate['id'], 'node-4')
        found = self.explain()
        self.assertEqual(
            (4, 3, 3, {'its system score exceeds none of the thresholds, '
                       'which are from 80 to -10': 1}),
            self.step(found, 'AffinityFilter'))
        self.assertIn("'its score is -50: bad -50'", str(found))
        self.admin.call_json('PUT', '/os-pcloud-policies/cloud/default', {
            'policy': {'system_keys': ['bad=1:-50', '#RAM=0:-20']}})
        self.assertRegex(
            str(self.explain()), "'its score is -[0-9.]+: "
            "RAM contention -[0-9.]+, bad -50'")

    def test_failed_and_running_servers(self):
        self.make_pool('gpu', 'node-1')
        pcloud = self.make_pcloud(self.alice)
        host = self.add_host(self.alice, pcloud, 'web', 'gpu')
        self.flavor('huge', memory_mb=7000)
        running = self.boot(self.alice, {'pcloud': pcloud}, flavorRef='huge')
        failed = self.boot(self.alice, {'pcloud': pcloud}, 'ERROR',
                           flavorRef='huge')
        found = self.explain('--server', failed['id'])
        self.assertIn('its only enabled host has no capacity',
                      found['outcome']['text'])
        self.assertEqual({
            f'it is not in Pcloud {pcloud}': 3,
            'it has too little left for 7000 MiB of memory': 1},
            self.why(found))
        self.assertEqual((f'pcloud={pcloud}', base.ALICE), (
            found['request']['hints'], found['request']['project']))
        self.alice.delete_server(running['id'])
        self._wait_until_deleted(running)
        found = self.explain('--server', failed['id'])
        self.assertEqual([host], found['outcome']['hosts'])
        error = self.assertRaises(exception.NotFound, self.explain,
                                  '--server', pcloud)
        self.assertIn(f'no request for a server {pcloud}', str(error))
        self.assertRaisesRegex(
            exception.NotFound, 'no request for a server', self.explain,
            '--server', failed['id'].upper())
        self.assertRaisesRegex(
            exception.Invalid, 'explained as it was asked for', self.ask,
            '--server', failed['id'], '--project', base.ALICE)

    def test_a_foreign_filter(self):
        self.flags(
            available_filters=['nova.scheduler.filters.all_filters',
                               'pcloud.scheduler.filters.all_filters',
                               f'{__name__}.OddFilter', 'no.such.Filter'],
            enabled_filters=['OddFilter', 'PcloudFilter', 'Filter'],
            group='filter_scheduler')
        found = self.explain()
        self.assertEqual((4, 2, 2, {'it gives no reason': 2}),
                         self.step(found, 'OddFilter'))
        self.assertEqual(['OddFilter'], found['not_explained'])
        self.assertEqual({'Filter': 'no.such.Filter cannot be loaded: No '
                                    "module named 'no'"},
                         found['not_loaded'])
        status, printed = self.ask('--flavor', '1', '--verbose')
        self.assertEqual(0, status)
        self.assertIn('Not explained: OddFilter', printed)
        self.assertIn('        node-2\n', printed)

    def test_the_sums_are_those_of_nova(self):
        for host in ('node-1', 'node-1', 'node-3'):
            self.boot(self.admin, host=host)
        self.admin.call_json('PUT', '/os-pcloud-attributes/hardware_class', {
            'attribute': {'value': '3', 'hosts': ['node-2', 'node-3']}})
        spec = conductor.make(
            self.context, objects.Flavor.get_by_flavor_id(self.context, '1'),
            conductor.no_image(), base.ALICE, {})
        found = schedule.explain(self.context, spec)
        self.assertEqual(4, len(found.weighed))
        nova = host_manager.HostManager().get_weighed_hosts(
            [each.host_state for each in found.weighed], spec)
        self.assertEqual(
            [(each.obj.host, each.weight) for each in nova],
            [(each.host_state.host, each.total) for each in found.weighed])
        self.assertEqual(1, len(found.best))
        self.assertEqual(
            [each.host_state.host for each in found.best],
            [self.host_of(self.boot(self.alice))])

    def test_text(self):
        self.make_pool('gpu', 'node-1')
        self.disable_service('node-2')
        status, printed = self.ask('--flavor', '1', '--verbose')
        self.assertEqual(0, status)
        first, *_ = printed.splitlines()
        self.assertEqual(
            'A server would be started on one of 2 hosts, and chance decides '
            'on which: node-3, node-4.', first)
        self.assertIn('Placement: 4 compute nodes -> 2', printed)
        self.assertIn('    1 host: its compute service is disabled\n'
                      '        node-2\n', printed)
        self.assertIn('  PcloudFilter       2 -> 2  (alone it would keep 2 '
                      'of 2)', printed)

    def test_images(self):
        image = self.glance.auto_disk_config_disabled_image
        found = self.explain('--image', image['id'])
        self.assertTrue(found['outcome']['found'])
        self.assertRaisesRegex(
            exception.NotFound, 'cannot be had from Glance', self.explain,
            '--image', '00000000-0000-4000-8000-000000000000')

    def test_what_nova_would_not_accept(self):
        for refused, told, arguments in (
                (exception.FlavorNotFound, 'nothing', ['--flavor', 'nothing']),
                (exception.InvalidValue, 'Constraint at character 1: ',
                 ['--hint', 'constraints=x']),
                (exception.Invalid, 'may not be co-located',
                 ['--hint', 'in=web']),
                (exception.ServerGroupUnknown, 'no server group', [
                    '--hint', 'group=00000000-0000-4000-8000-000000000000'])):
            self.assertRaisesRegex(refused, told, self.explain, *arguments)
