# SPDX-License-Identifier: Apache-2.0

"""Services are deployed and undeployed: the order of things, and failures."""

import uuid

import ddt
from keystoneauth1 import exceptions as ksa_exceptions
from pcloud.client.deploy import waits
from pcloud.tests.unit.client import base
from pcloud.tests.unit.client.deploy import fake_nova

ONE = ('web', '--image', 'plain', '--flavor', 'large')
GROUP = (*ONE, '--with', 'disk=part:small', '--with', 'log=part:small')
DISK, LOG, WEB = map(fake_nova.server_id, ('disk', 'log', 'web'))
AGENT = ('agent', '--image', 'part', '--flavor', 'small')
FORBIDDEN = (403, 'no more ports')
WEB_1, DISK_1 = map(fake_nova.server_id, ('web-1', 'disk-1'))


class DeployTestCase(fake_nova.ServersTestCase):
    """Helps with deployments."""

    def deploy(self, *args):
        """Run the command."""
        return self.openstack('pcloud', 'service', 'deploy', *args)

    def assert_refused(self, text, result):
        """Assert that it failed with one line, and created nothing."""
        self.assert_one_line(text, result)
        self.assertEqual([], self.done)

    def assert_failed(self, text, result, status=1):
        """Assert that it ended with a line that holds a text."""
        self.assertEqual((status, ''), result[:2])
        self.assertIn(text, result.err.splitlines()[-1])


class TestOrder(DeployTestCase):
    """What is created, in which order, with which hints."""

    def test_one(self):
        result = self.deploy(*ONE, '-f', 'json')

        self.assertEqual([{
            'Service': 'web', 'Name': 'web', 'ID': WEB, 'Status': 'ACTIVE',
            'Parent': None}], result.json)
        self.assertEqual('web: building\nweb: active\n', result.err)
        run = self.created[0]['server']['metadata']['pcloud_run']
        self.assertEqual([{
            'server': {
                'name': 'web', 'imageRef': fake_nova.image_id('plain'),
                'flavorRef': '4', 'networks': 'auto',
                'metadata': {'pcloud_run': str(uuid.UUID(run))}},
            'os:scheduler_hints': {'service': 'web'}}], self.created)

    def test_those_of_with_come_first_and_are_waited_for(self):
        result = self.deploy(*GROUP)

        self.assertEqual([
            ('create', 'disk'), ('active', 'disk'), ('create', 'log'),
            ('active', 'log'), ('create', 'web'), ('active', 'web')],
            self.done)
        self.assertEqual({'service': 'disk', 'with': 'web',
                          'room_for': ['1', '4']}, self.hints('disk'))
        self.assertEqual({'service': 'log', 'with': 'web',
                          'beside': [DISK]}, self.hints('log'))
        self.assertEqual({'service': 'web', 'beside': [DISK, LOG]},
                         self.hints('web'))
        self.assertEqual([
            'disk: building', 'disk: active', 'log: building', 'log: active',
            'web: building', 'web: active'], result.err.splitlines())
        self.assertEqual([['disk', WEB], ['log', WEB], ['web', '-']], [
            [row[0], row[4]] for row in base.table(result.out)[1:]])

    def test_several(self):
        result = self.deploy(*GROUP, '--count', '2')

        self.assertEqual(0, result.status)
        self.assertEqual(
            ['disk-1', 'log-1', 'web-1', 'disk-2', 'log-2', 'web-2'],
            [body['server']['name'] for body in self.created])
        self.assertEqual(['1', '4'], self.hints('disk-2')['room_for'])
        self.assertEqual([fake_nova.server_id('disk-2')],
                         self.hints('log-2')['beside'])

    def test_in_service(self):
        db = self.have('db-1', 'db')

        result = self.deploy(*AGENT, '--in-service', 'db', '-f', 'json')

        self.assertEqual({'service': 'agent', 'in': 'db'},
                         self.hints('agent'))
        self.assertEqual(db, result.json[0]['Parent'])

    def test_in_service_is_not_taken_for_the_global_insecure(self):
        self.have('db-1', 'db')

        for args in (AGENT + ('--in-service', 'db'),
                     ('--in-service', 'db') + AGENT,
                     AGENT + ('--in-service=db',)):
            self.assertEqual(0, self.deploy(*args).status)
            self.assertEqual('db', self.hints('agent')['in'])
        self.assertNotIn(
            False, [each.verify for each in self.http.request_history])

    def test_insecure_is_still_there(self):
        self.openstack('--insecure', 'pcloud', 'service', 'list')

        self.assertIs(False, self.http.request_history[-1].verify)

    def test_in_service_and_with(self):
        """Those of --with come first, beside the running service."""
        self.have('db-1', 'db', host='h1')

        result = self.deploy(*AGENT, '--in-service', 'db',
                             '--with', 'disk=part:large')

        self.assertEqual(0, result.status)
        self.assertEqual(['disk: building', 'disk: active', 'agent: building',
                          'agent: active'], result.err.splitlines())
        self.assertEqual(
            {'service': 'disk', 'with': 'agent', 'in': 'db',
             'room_for': ['1']}, self.hints('disk'))

    def test_in_and_with(self):
        """The scheduler chooses beside which unit, with capacity for all."""
        self.have('db-1', 'db', host='h1')
        self.have('db-2', 'db', host='h2')
        disks, logs = (
            [fake_nova.server_id(f'{name}-{number}') for number in (1, 2)]
            for name in ('disk', 'log'))

        result = self.deploy(*AGENT, '--in-service', 'db', '--with',
                             'disk=part:large', '--with', 'log=part:small',
                             '--count', '2', '-f', 'json')

        self.assertEqual(0, result.status)
        for number, disk, log in zip((1, 2), disks, logs):
            self.assertEqual({'service': 'disk', 'with': 'agent', 'in': 'db',
                              'room_for': ['1', '1']},
                             self.hints(f'disk-{number}'))
            self.assertEqual({'service': 'log', 'with': 'agent', 'in': 'db',
                              'beside': [disk]}, self.hints(f'log-{number}'))
            self.assertEqual({'service': 'agent', 'in': 'db',
                              'beside': [disk, log]},
                             self.hints(f'agent-{number}'))
        agents = [fake_nova.server_id(f'agent-{number}')
                  for number in (1, 2)]
        self.assertEqual(
            [agents[0]] * 2 + [fake_nova.server_id('db-1')]
            + [agents[1]] * 2 + [fake_nova.server_id('db-1')],
            [each['Parent'] for each in result.json])

    def test_in_and_with_on_another_host_than_any_parent(self):
        self.have('db-1', 'db', host='h1')
        self._choose_host = lambda hints: 'h2'

        self.assert_failed('disk failed: it is not on the host of db-1;',
                           self.deploy(*AGENT, '--in-service', 'db', '--with',
                                       'disk=part:small'))
        self.assertEqual(['db-1'], self.names())

    def test_scale_with(self):
        one = self.have('db-1', 'db', host='h1')
        self.have('db-2', 'db', host='h1')
        three = self.have('db-3', 'db', host='h3')
        self.have('db-4', 'db', host='', status='ERROR')

        result = self.deploy(*AGENT, '--scale-with', 'db', '-f', 'json')

        self.assertEqual([one, three],
                         [each['Parent'] for each in result.json])
        self.assertEqual([{'service': 'agent', 'in': one},
                          {'service': 'agent', 'in': three}],
                         [self.hints('agent-1'), self.hints('agent-2')])
        self.assertEqual({'db'}, {
            body['server']['metadata']['pcloud_scale_with']
            for body in self.created})

    def test_scale_with_at_the_same_time(self):
        """What another run has started earlier stays, the own one goes."""
        db = self.have('db-1', 'db', host='h1')
        self.have('db-2', 'db', host='h2')

        def other_run():
            self.have('agent-9', 'agent', host='h1', in_=db, metadata={
                'pcloud_scale_with': 'db', 'pcloud_scaled_at': '2026-01-01'})
        self.surprises['create', 'agent-1'] = other_run

        result = self.deploy(*AGENT, '--scale-with', 'db', '-f', 'json')

        self.assertEqual(['agent-2'], [each['Name'] for each in result.json])
        self.assertEqual(['agent-2', 'agent-9', 'db-1', 'db-2'],
                         self.names())
        self.assertIn('agent-1: not needed, as another run has started one '
                      'on its host\nagent-1: stopping', result.err)

    def test_pcloud_and_network(self):
        result = self.deploy(*GROUP, '--pcloud', 'farm', '--nic', 'none')

        self.assertEqual(0, result.status)
        for body in self.created:
            self.assertEqual('none', body['server']['networks'])
            self.assertEqual(base.PCLOUD_ID,
                             body['os:scheduler_hints']['pcloud'])

    def test_the_default_of_the_project(self):
        self.answer('GET', f'/os-pclouds/{base.PCLOUD_ID}',
                    json={'pcloud': base.PCLOUD})
        for mode, expected in (('strict', base.PCLOUD_ID),
                               ('grow', base.PCLOUD_ID), ('prefer', None)):
            self.created.clear()
            self.servers.clear()
            self.have_default(base.PCLOUD_ID, mode)

            result = self.deploy(*GROUP)

            self.assertEqual(0, result.status)
            self.assertEqual({expected}, {
                body['os:scheduler_hints'].get('pcloud')
                for body in self.created})

    def test_a_cloud_without_defaults(self):
        self.answer('GET', f'/os-pcloud-policies/project/{base.PROJECT}',
                    status_code=403, json={'forbidden': {
                        'code': 403, 'message': 'no'}})

        self.assertEqual(0, self.deploy(*ONE).status)

    def test_a_network_by_its_id(self):
        self.deploy(*ONE, '--nic', base.OTHER_ID)

        self.assertEqual([{'uuid': base.OTHER_ID}],
                         self.created[0]['server']['networks'])

    def test_an_image_and_a_flavor_by_their_ids(self):
        result = self.deploy('web', '--image', fake_nova.image_id('plain'),
                             '--flavor', '4')

        self.assertEqual(0, result.status)


@ddt.ddt
class TestRefusals(DeployTestCase):
    """What is not right is told before anything is created."""

    @ddt.data('foo', '', 'Auto', base.OTHER_ID[:-1], f'{base.OTHER_ID},auto')
    def test_networks(self, network):
        result = self.deploy(*ONE, '--nic', network)

        self.assertEqual(2, result.status)
        self.assertIn(f"'{network}' is neither the id of a network nor auto "
                      'or none', result.err)
        self.assertEqual([], self.done)

    @ddt.data(
        ('a/b', "'a/b' is not the name of a service: 1 to 64"),
        ('..', "'..' is not the name"), ('x' * 65, 'is not the name'),
        (base.OTHER_ID, f"cannot be named '{base.OTHER_ID}', which is an id"),
        (base.OTHER_ID.replace('2', 'A'), 'which is an id'))
    @ddt.unpack
    def test_names(self, name, told):
        self.assert_refused(told, self.deploy(name, *ONE[1:]))
        self.assert_refused(
            told, self.deploy(*ONE, '--with', f'{name}=part:small'))
        self.assert_refused(told, self.deploy(*ONE, '--in-service', name))

    @ddt.data('--in-service', '--scale-with')
    def test_a_service_without_a_name(self, option):
        """As where a script's variable is not set."""
        self.assert_refused("'' is not the name of a service",
                            self.deploy(*ONE, option, ''))

    @ddt.data(
        ('--in-service db --scale-with db',
         '--in-service and --scale-with exclude'),
        ('--count 2 --scale-with db', '--count makes no sense'),
        ('--count 1 --scale-with db', '--count makes no sense'),
        ('--with y=part:small --scale-with db', '--with makes no sense'),
        ('--with y=part:small --with y=part:small', "'y' is named twice"),
        ('--with web=part:small', "'web' is named twice"),
        ('--in-service web', "'web' cannot be started and"),
        ('--with y=part:small --in-service y', "'y' cannot be started and"))
    @ddt.unpack
    def test_combinations(self, options, told):
        self.have('db-1', 'db')

        self.assert_refused(told, self.deploy(*ONE, *options.split()))
        self.assertEqual([], self.calls())

    @ddt.data('y', 'y=part', 'y=:small', 'y=part:', '=part:small')
    def test_a_part_names_its_image_and_flavor(self, part):
        result = self.deploy(*ONE, '--with', part)

        self.assertEqual(2, result.status)
        self.assertIn('is not <name>=<image>:<flavor>', result.err)

    @ddt.data(
        ('nope', 'large', "web: No image has the id or name 'nope'"),
        ('twin', 'large', "web: Several images are named 'twin'"),
        ('plain', 'nope', "web: No flavor has the id or name 'nope'"),
        ('queued', 'large', 'web: image queued is queued, not active'),
        ('big', 'small', 'web: flavor small is too small for image big'))
    @ddt.unpack
    def test_what_it_is_started_from(self, image, flavor, told):
        self.assert_refused(
            told, self.deploy('web', '--image', image, '--flavor', flavor))

    def test_a_part_is_looked_at_as_well(self):
        result = self.deploy(*ONE, '--with', 'disk=nope:nothing')

        self.assert_refused("Nothing was created: disk: No image", result)
        self.assertIn("; disk: No flavor has the id or name 'nothing'",
                      result.err)

    def test_an_unknown_pcloud(self):
        self.assert_refused("No Pcloud that you can see has the id or name "
                            "'barn'", self.deploy(*ONE, '--pcloud', 'barn'))

    def test_a_pcloud_of_others(self):
        self.answer_pclouds({**base.PCLOUD, 'tenants': [base.OTHER_PROJECT]})

        self.assert_refused('not a tenant of Pcloud farm',
                            self.deploy(*ONE, '--pcloud', 'farm'))

    def test_a_cloud_without_pclouds(self):
        self.answer('GET', '/os-pclouds', status_code=404, json={})

        self.assert_refused('extension is not enabled', self.deploy(*ONE))

    @ddt.data(('plain', 'small', 'never'),
              ('wrong', 'small',
               "never, as 'Allow' is none of allow, always, never"),
              ('part', 'never', 'never'), ('only', 'never', 'never'))
    @ddt.unpack
    def test_what_may_not_be_co_located(self, image, flavor, permission):
        self.have('db-1', 'db')
        told = (f'may not be co-located (pcloud:co_located of flavor '
                f'{flavor}, else pcloud_co_located of image {image}, is '
                f'{permission})')

        self.assert_refused(f'disk: {told}', self.deploy(
            *ONE, '--with', f'disk={image}:{flavor}'))
        for option in ('--in-service', '--scale-with'):
            self.assert_refused(f'web: {told}', self.deploy(
                'web', '--image', image, '--flavor', flavor, option, 'db'))

    def test_what_may_only_be_co_located(self):
        self.have('db-1', 'db')
        one = ('web', '--image', 'only', '--flavor', 'small')

        for options in ((), ('--with', 'disk=part:small')):
            self.assert_refused('web: may only be co-located',
                                self.deploy(*one, *options))
        self.assertEqual(0, self.deploy(*one, '--in-service', 'db').status)

    def test_the_flavor_counts_before_the_image(self):
        self.assertEqual(0, self.deploy(
            'web', '--image', 'only', '--flavor', 'large').status)

    @ddt.data('--in-service', '--scale-with')
    def test_a_neighbour_on_no_host(self, option):
        self.have('db-1', 'db', host='', status='ERROR')
        self.have('db', host='h1')

        self.assert_refused(
            "your project has no unit of a service 'db' on a host",
            self.deploy(*ONE, option, 'db'))

    def test_a_neighbour_that_is_hidden(self):
        lost = self.have('db-1', 'db')
        self.servers[lost] = {'id': lost, 'status': 'UNKNOWN'}
        self.assert_refused(
            "no unit of a service 'db' on a host that can be seen now, as a "
            "part of the cloud does not answer",
            self.deploy(*AGENT, '--in-service', 'db'))

    def test_scaling_what_is_there_already(self):
        self.have('db-1', 'db')
        self.have('web-1', 'web')

        self.assert_refused('openstack pcloud service sync',
                            self.deploy(*ONE, '--scale-with', 'db'))

    @ddt.data(('Instances', 5, 'instances', 3), ('Cores', 8, 'cores', 6),
              ('RAMSize', 5122, 'MiB of memory', 5120))
    @ddt.unpack
    def test_quota(self, limit, most, name, needed):
        self.limits[f'maxTotal{limit}'] = most

        self.assert_refused(
            f'the quota of your project is {most} {name}, of which 3 are '
            f'used and {needed} more are needed', self.deploy(*GROUP))
        self.limits[f'maxTotal{limit}'] = 3 + needed
        self.assertEqual(0, self.deploy(*GROUP).status)

    def test_quota_for_all_of_them(self):
        self.limits['maxTotalInstances'] = 8

        self.assert_refused('6 more are needed',
                            self.deploy(*GROUP, '--count', '2'))

    def test_all_that_is_wrong_is_told(self):
        self.have_room(0)
        self.limits['maxTotalInstances'] = 3

        result = self.deploy(*ONE, '--pcloud', 'farm')

        self.assert_refused('is 3 instances', result)
        self.assertIn('; Pcloud farm has no capacity for 1 times large',
                      result.err)

    def test_scaling_while_a_cell_is_down(self):
        self.have('db-1', 'db')
        lost = self.have('db-2', 'db')
        self.servers[lost] = {'id': lost, 'status': 'UNKNOWN'}

        self.assert_refused(
            'Nothing is changed while a part of the cloud does not report '
            'which servers are where; of yours 1 is in it.',
            self.deploy(*AGENT, '--scale-with', 'db'))
        self.assertEqual(0, self.deploy(*AGENT, '--in-service', 'db').status)


class TestRoom(DeployTestCase):
    """The cloud is asked for capacity before anything is created."""

    def test_outside_of_pclouds(self):
        self.assertEqual(0, self.deploy(*GROUP, '--count', '2').status)
        self.assertEqual([{'flavor': ['1', '1', '4'], 'count': '2'}],
                         self.asked_for_room())

    def test_in_a_pcloud(self):
        self.assertEqual(0, self.deploy(*ONE, '--pcloud', 'farm').status)
        self.assertEqual([{'flavor': ['4'], 'count': '1',
                           'pcloud': base.PCLOUD_ID}], self.asked_for_room())

    def test_root_disks_on_volumes(self):
        """Their size is that of the volume, and the host needs no capacity."""
        self.deploy('web', '--image', 'volume', '--flavor', 'large',
                    '--with', 'disk=part:small', '--with', 'log=volume:small')
        self.assertEqual([['1', '1:volume', '4:volume']], [
            asked['flavor'] for asked in self.asked_for_room()])
        self.assertEqual(['1:volume', '4:volume'],
                         self.hints('disk')['room_for'])

    def test_in_a_service(self):
        self.have('db-1', 'db', pcloud=base.PCLOUD_ID)

        self.deploy(*AGENT, '--in-service', 'db', '--with', 'log=part:large',
                    '--pcloud', 'farm')

        self.assertEqual([{'flavor': ['4', '1'], 'count': '1', 'in': 'db',
                           'pcloud': base.PCLOUD_ID}], self.asked_for_room())

    def test_beside_one_unit_on_each_host(self):
        one = self.have('db-1', 'db', host='h1', pcloud=base.PCLOUD_ID)
        self.have('db-2', 'db', host='h1', pcloud=base.PCLOUD_ID)
        three = self.have('db-3', 'db', host='h3')

        self.deploy(*AGENT, '--scale-with', 'db')

        self.assertEqual([
            {'flavor': ['1'], 'count': '1', 'in': one,
             'pcloud': base.PCLOUD_ID},
            {'flavor': ['1'], 'count': '1', 'in': three}],
            self.asked_for_room())

    def test_none_in_a_pcloud(self):
        self.have_room(0, 'no host is enabled')

        self.assert_refused(
            'Nothing was created: Pcloud farm has no capacity for 1 times '
            'small, '
            'small and large together on one host: no host is enabled',
            self.deploy(*GROUP, '--pcloud', 'farm'))

    def test_none_outside_of_pclouds(self):
        self.have_room(0)

        self.assert_refused(
            'Nothing was created: the cloud has no capacity outside of '
            'Pclouds '
            'for 1 times large\n', self.deploy(*ONE))

    def test_for_some_only(self):
        self.have_room(2, '1 GiB of disk is too little')

        self.assert_refused(
            'for 3 times small, small and large together on one host, only '
            'for 2: 1 GiB of disk is', self.deploy(*GROUP, '--count', '3'))
        self.assertEqual(0, self.deploy(*GROUP, '--count', '2').status)

    def test_none_in_a_service(self):
        self.have('db-1', 'db')
        self.have_room(0)

        self.assert_refused(
            "the cloud has no capacity outside of Pclouds on hosts with a "
            "unit "
            "of 'db' for 1 times small",
            self.deploy(*AGENT, '--in-service', 'db'))

    def test_none_beside_one_unit(self):
        self.have('db-1', 'db', host='h1')
        two = self.have('db-2', 'db', host='h2')
        self.have_room(0, 'it is full', in_=two)

        self.assert_refused(
            'Nothing was created: beside db-2: there is no capacity for 1 '
            'times small: it is full',
            self.deploy(*AGENT, '--scale-with', 'db'))

    def test_more_than_may_be_asked_for(self):
        self.answer('GET', fake_nova.ROOM, status_code=400, json={
            'badRequest': {'code': 400, 'message': 'count is too large'}})

        self.assert_refused(
            'Nothing was created: count is too large (HTTP 400)',
            self.deploy(*ONE, '--count', '100000000'))

    def test_what_is_gone_meanwhile(self):
        def gone(request, context):
            context.status_code = 404 if request.qs else 400
            return {'itemNotFound': {'code': 404, 'message': 'no Pcloud'}}
        self.answer('GET', fake_nova.ROOM, json=gone)

        self.assert_refused('Nothing was created: no Pcloud (HTTP 404)',
                            self.deploy(*ONE, '--pcloud', 'farm'))

    def test_who_may_not_ask(self):
        self.answer('GET', fake_nova.ROOM, status_code=403, json={
            'forbidden': {'code': 403, 'message': 'not for you'}})

        self.assertEqual(0, self.deploy(*ONE).status)
        self.assertEqual(0, self.deploy(
            *AGENT, '--pcloud', 'farm', '--count', '2').status)
        self.have('db-1', 'db', host='h1')
        self.assertEqual(0, self.deploy(
            'more', *AGENT[1:], '--scale-with', 'db').status)
        self.assertEqual(3, len(self.asked_for_room()))

    def test_who_may_not_ask_tries_and_takes_back(self):
        self.answer('GET', fake_nova.ROOM, status_code=403, json={
            'forbidden': {'code': 403, 'message': 'not for you'}})
        self.faults['log-2'] = 'No valid host was found.'

        result = self.deploy(*GROUP, '--count', '2')

        self.assert_failed(
            'log-2 failed: No valid host was found. All that was created '
            '(5) is removed.', result)
        self.assertEqual([], self.names())
        self.assertEqual(
            ['disk-1', 'log-1', 'web-1', 'disk-2', 'log-2'],
            [body['server']['name'] for body in self.created])

    def test_who_may_not_ask_is_refused_what_needs_no_asking(self):
        self.answer('GET', fake_nova.ROOM, status_code=403, json={
            'forbidden': {'code': 403, 'message': 'not for you'}})
        self.limits['maxTotalInstances'] = 4

        self.assert_refused('the quota of your project is 4 instances',
                            self.deploy(*GROUP))

    def test_in_another_pcloud(self):
        db = self.have('db-1', 'db', host='h1', pcloud=base.PCLOUD_ID)

        self.assert_refused('on a host outside of Pclouds', self.deploy(
            *AGENT, '--in-service', 'db'))
        self.assertEqual([], self.asked_for_room())
        self.assertEqual(0, self.deploy(*AGENT, '--scale-with', 'db').status)
        self.assertEqual({'service': 'agent', 'in': db,
                          'pcloud': base.PCLOUD_ID}, self.hints('agent'))

    def test_beside_what_is_in_error(self):
        self.have('db-1', 'db', host='h1', status='ERROR')

        self.assert_refused("no unit of a service 'db' on a host",
                            self.deploy(*AGENT, '--in-service', 'db'))


@ddt.ddt
class TestFailures(DeployTestCase):
    """When any part fails, all is taken back."""

    def _assert_taken_back(self, *names):
        self.assertEqual([], self.names())
        self.assertEqual(list(names), [
            name for verb, name in self.done if verb == 'delete'])

    @ddt.data(('disk', ['disk']), ('log', ['log', 'disk']),
              ('web', ['web', 'log', 'disk']))
    @ddt.unpack
    def test_an_error(self, name, gone):
        self.faults[name] = 'No valid host was found. It is full.'

        result = self.deploy(*GROUP)

        self.assert_failed(
            f'{name} failed: No valid host was found. It is full. All that '
            f'was created ({len(gone)}) is removed.', result)
        self._assert_taken_back(*gone)
        self.assertIn('disk: deleting\n', result.err)
        self.assertIn('disk: deleted\n', result.err)

    @ddt.data(('disk', []), ('log', ['disk']), ('web', ['log', 'disk']))
    @ddt.unpack
    def test_a_refusal(self, name, gone):
        self.surprises['create', name] = FORBIDDEN

        result = self.deploy(*GROUP)

        self.assert_failed(f'{name} failed: no more ports (HTTP 403).',
                           result)
        self.assertIn(f'All that was created ({len(gone)}) is removed.'
                      if gone else 'Nothing was created.', result.err)
        self._assert_taken_back(*gone)

    @ddt.data(('disk', ['disk']), ('log', ['log', 'disk']),
              ('web', ['web', 'log', 'disk']))
    @ddt.unpack
    def test_an_interruption(self, name, gone):
        # While it is waited for, and while it is asked for.
        for verb in ('get', 'created'):
            self.surprises = {(verb, name): KeyboardInterrupt()}
            self.done.clear()

            result = self.deploy(*GROUP)

            self.assert_failed(f'{name} failed: interrupted. All that was',
                               result, 130)
            self._assert_taken_back(*gone)

    def test_a_second_group(self):
        self.faults['log-2'] = 'full'

        self.assert_failed('log-2 failed: full.',
                           self.deploy(*GROUP, '--count', '2'))
        self._assert_taken_back('log-2', 'disk-2', 'web-1', 'log-1',
                                'disk-1')

    def test_an_api_that_is_away_for_a_moment(self):
        # Some versions of the SDK try once more by themselves.
        def away():
            raise ksa_exceptions.ConnectFailure('away')

        for surprise in (away, (503, 'away')):
            self.surprises['get', 'web'] = surprise
            self.clock.naps.clear()
            self.clock.at_nap = self.surprises.clear

            self.assertEqual(0, self.deploy(*ONE).status)
            self.assertEqual(2, len(self.clock.naps))

    def test_an_api_that_stays_away(self):
        self.surprises['get', 'log'] = (503, 'away')

        self.assert_failed(
            f'log failed: away (HTTP 503). Could not be removed: log ({LOG})',
            self.deploy(*GROUP))
        self.assertEqual(1, self.done.count(('delete', 'log')))

    def test_an_api_that_does_not_let_one_look(self):
        self.surprises['get', 'web'] = (403, 'no')

        self.assert_failed('web failed: no (HTTP 403)', self.deploy(*ONE))
        self.assertEqual([], self.clock.naps)

    def test_a_wait_that_is_too_long(self):
        self.stuck.add(('ACTIVE', 'log'))

        self.assert_failed('log failed: it was not active after 7 seconds.',
                           self.deploy(*GROUP, '--timeout', '7'))
        self._assert_taken_back('log', 'disk')
        self.assertIn(1, self.clock.naps)

    def test_ten_minutes_unless_told(self):
        self.stuck.add(('ACTIVE', 'web'))

        self.assert_failed('after 600 seconds', self.deploy(*ONE))

    def test_an_answer_that_got_lost(self):
        self.surprises['created', 'log'] = ksa_exceptions.ConnectFailure('x')

        self.assert_failed('log failed: x. All that was created (2) is',
                           self.deploy(*GROUP))
        self._assert_taken_back('log', 'disk')

    def test_a_request_that_got_lost(self):
        self.surprises['create', 'log'] = (502, 'bad gateway')

        self.assert_failed(
            'It is not known whether log is there now. All that was created '
            '(1) is removed.', self.deploy(*GROUP))

    def test_what_cannot_be_removed_is_named(self):
        self.faults['web'] = 'full'
        self.surprises['delete', 'log'] = (409, 'locked')

        self.assert_failed(
            f'web failed: full. Could not be removed: log ({LOG}).',
            self.deploy(*GROUP))
        self.assertEqual(['log'], self.names())

    def test_what_does_not_go_is_named(self):
        self.faults['web'] = 'full'
        self.stuck.add(('GONE', 'disk'))

        self.assert_failed(f'Could not be removed: disk ({DISK}).',
                           self.deploy(*GROUP))

    def test_a_second_interruption_leaves_what_is_not_gone_yet(self):
        self.faults['log'] = 'full'
        self.surprises['delete', 'log'] = KeyboardInterrupt()

        self.assert_failed(f'Could not be removed: log ({LOG}).',
                           self.deploy(*GROUP), 130)
        self.assertEqual(['log'], self.names())

    def test_what_is_deleted_meanwhile(self):
        self.stuck.add(('ACTIVE', 'web'))
        self.surprises['get', 'web'] = self.servers.clear

        self.assert_failed('web failed: it was deleted while it was built',
                           self.deploy(*ONE))

    def test_a_scheduler_that_does_not_co_locate(self):
        self._choose_host = lambda hints: str(uuid.uuid4())

        self.assert_failed(
            'log failed: it is not on the host of disk; ask the operator',
            self.deploy(*GROUP))
        self._assert_taken_back('log', 'disk')

    def test_a_neighbour_that_was_moved_meanwhile(self):
        db = self.have('db-1', 'db', host='h1')

        def choose(hints):
            self.servers[db]['hostId'] = 'h2'
            return 'h2'
        self._choose_host = choose

        self.assertEqual(0, self.deploy(*AGENT, '--in-service', 'db').status)


class UndeployTestCase(fake_nova.ServersTestCase):

    def setUp(self):
        super().setUp()
        self.have('other', 'other', in_=base.SERVER_1)
        self.have('web-1', 'web', host='h1')
        self.have('web-2', 'web', host='h2', status='SHUTOFF')
        self.have('disk-1', 'disk', host='h1', with_='web')
        self.have('log-1', 'log', host='h1', in_='disk')
        self.have('agent-2', 'agent', host='h2',
                  in_=fake_nova.server_id('web-2'))

    def _undeploy(self, *args):
        return self.openstack('pcloud', 'service', 'undeploy', *args)


class TestUndeploy(UndeployTestCase):
    """Parents stop first, then those co-located; then all are deleted."""

    def test_order(self):
        result = self._undeploy('web')

        self.assertEqual((0, ''), result[:2])
        order = [('stop', 'web-1'), ('shutoff', 'web-1'),
                 ('stop', 'disk-1'), ('stop', 'agent-2'),
                 ('shutoff', 'disk-1'), ('shutoff', 'agent-2'),
                 ('stop', 'log-1'), ('shutoff', 'log-1')]
        self.assertEqual(order, self.done[:len(order)])
        self.assertEqual(
            [(verb, name) for level in (
                ['web-1', 'web-2'], ['disk-1', 'agent-2'], ['log-1'])
             for verb in ('delete', 'gone') for name in level],
            self.done[len(order):])
        self.assertEqual(['other'], self.names())
        self.assertEqual(['web-1: stopping', 'web-1: stopped'],
                         result.err.splitlines()[:2])

    def test_what_is_no_unit_itself(self):
        self.have('plain', host='h1', in_='web')
        self._undeploy('web')
        self.assertLess(self.done.index(('shutoff', 'web-1')),
                        self.done.index(('stop', 'plain')))
        self.assertEqual(['other'], self.names())

    def test_one_that_reboots(self):
        web = self.have('web-1', 'web', host='h1', status='REBOOT')
        self._coming[web] = ['REBOOT', 'ACTIVE']
        self._undeploy('web')
        self.assertLess(self.done.index(('shutoff', 'web-1')),
                        self.done.index(('stop', 'disk-1')))

    def test_one_that_has_stopped_by_itself(self):
        self.surprises['stop', 'disk-1'] = (409, 'not running')
        disk = self.servers[fake_nova.server_id('disk-1')]
        self.clock.at_nap = lambda: disk.update(status='SHUTOFF')
        self.assertEqual(0, self._undeploy('web').status)
        self.assertEqual(['other'], self.names())

    def test_one_that_another_run_stops(self):
        self.servers[WEB_1]['OS-EXT-STS:task_state'] = 'powering-off'
        self._coming[WEB_1] = ['ACTIVE', 'SHUTOFF']
        self.surprises['stop', 'web-1'] = (409, 'it is in powering-off')

        self.assertEqual(0, self._undeploy('web').status)
        self.assertEqual(['other'], self.names())

    def test_what_is_co_located_goes_alone(self):
        self._undeploy('disk')

        self.assertEqual(['agent-2', 'other', 'web-1', 'web-2'],
                         self.names())

    def test_while_a_cell_is_down(self):
        lost = fake_nova.server_id('web-1')
        self.servers[lost] = {'id': lost, 'status': 'UNKNOWN'}

        self.assert_one_line('Nothing is changed while a part of the cloud',
                             self._undeploy('web'))
        self.assertEqual([], self.done)

    def test_while_a_cell_is_down_and_many_servers(self):
        """Nova's first page has no place for what it cannot show."""
        self.page = 1
        self.servers[WEB_1] = {'id': WEB_1, 'status': 'UNKNOWN'}

        self.assert_one_line('Nothing is changed while a part of the cloud',
                             self._undeploy('web'))
        self.assertEqual([], self.done)

    def test_many_servers(self):
        self.page = 1
        self.assertEqual(0, self._undeploy('web').status)
        self.assertEqual(['other'], self.names())

    def test_many_servers_in_a_cloud_without_pclouds(self):
        self.page = 1
        for path in ('/os-pcloud-hidden-servers', '/os-pclouds'):
            self.answer('GET', path, status_code=404, json={})
        self.assertEqual(0, self._undeploy('web').status)

    def test_what_another_unit_on_the_host_keeps(self):
        """It is co-located with a service, not with one of its units."""
        self.have('disk-own', 'disk', host='h1')
        self._undeploy('web')
        self.assertEqual(['disk-own', 'log-1', 'other'], self.names())

    def test_in_a_cloud_without_pclouds(self):
        self.answer('GET', '/os-pclouds', status_code=404, json={})

        self.assertEqual(0, self._undeploy('web').status)
        self.assertEqual(['other'], self.names())

    def test_nothing_of_that_name(self):
        result = self._undeploy('nope')

        self.assert_one_line("Your project has no units of a service 'nope'",
                             result)
        self.assertEqual([], self.done)

    def test_one_that_does_not_stop(self):
        self.stuck.add(('SHUTOFF', 'web-1'))
        self.servers[WEB_1]['OS-EXT-STS:task_state'] = 'powering-off'

        result = self._undeploy('web', '--timeout', '5')

        self.assertEqual(1, result.status)
        self.assertEqual(
            f'web-1 ({WEB_1}) was not stopped after 5 seconds; nothing was '
            f'deleted. What it takes: web-1: wait until Nova ends its task '
            f'powering-off, or have an administrator reset its state. Then '
            f'undeploy what is left; with --force all that can be deleted is '
            f'deleted, stopped or not', result.err.splitlines()[-1])
        self.assertEqual([('stop', 'web-1')], self.done)
        self.assertEqual([waits.POLL_INTERVAL] * 2 + [1],
                         self.clock.naps)

    def test_one_that_does_not_settle(self):
        self.have('web-1', 'web', host='h1', status='HARD_REBOOT')

        result = self._undeploy('web', '--timeout', '5')

        self.assertIn(f'web-1 ({WEB_1}) is still HARD_REBOOT after 5 seconds; '
                      f'nothing was deleted', result.err)
        self.assertEqual([], self.done)

    def test_one_that_is_never_built(self):
        self.have('web-1', 'web', host='h1', status='BUILD')
        self.assertEqual(0, self._undeploy('web', '--timeout', '5').status)
        self.assertEqual(['other'], self.names())

    def test_one_that_cannot_be_stopped(self):
        self.surprises['stop', 'disk-1'] = (409, 'locked')
        self.servers[DISK_1]['locked'] = True

        result = self._undeploy('web')

        self.assertIn(f'disk-1 ({DISK_1}) could not be stopped: locked (HTTP '
                      f'409); nothing was deleted. What it takes: disk-1: '
                      f'unlock it (openstack server unlock {DISK_1})',
                      result.err)
        self.assertEqual(6, len(self.names()))
        # What goes with it is stopped nevertheless, and what is below is not.
        self.assertIn(('shutoff', 'agent-2'), self.done)
        self.assertNotIn(('stop', 'log-1'), self.done)

    def test_an_interruption_ends_the_waiting(self):
        self.stuck.add(('GONE', 'disk-1'))
        self.clock.at_nap = lambda: self.surprises.update(
            {('get', 'disk-1'): KeyboardInterrupt()}
            if ('delete', 'agent-2') in self.done else {})

        result = self._undeploy('web')

        log = fake_nova.server_id('log-1')
        self.assertEqual(130, result.status)
        self.assertIn(f'Interrupted. Still there, or perhaps so: disk-1 '
                      f'({DISK_1}), agent-2 (', result.err.splitlines()[-1])
        # A level below is not begun.
        self.assertIn(f', log-1 ({log}). Undeploy again what is left',
                      result.err.splitlines()[-1])
        self.assertEqual(4, len([each for each in self.done
                                 if each[0] == 'delete']))

    def test_one_that_cannot_be_deleted(self):
        """What is below it is kept, and whatever else goes."""
        self.surprises['delete', 'disk-1'] = (500, 'broken')

        result = self._undeploy('web')

        log = fake_nova.server_id('log-1')
        self.assertIn(
            f'Not deleted: disk-1 ({DISK_1}) could not be deleted: broken '
            f'(HTTP 500). Stopped and kept, as co-located with what is there: '
            f'log-1 ({log}). What it takes: disk-1: see why (openstack server '
            f'show {DISK_1}). Then undeploy what is left; with --force',
            result.err.splitlines()[-1])
        self.assertEqual(['disk-1', 'log-1', 'other'], self.names())

    def test_a_parent_that_stays(self):
        self.stuck.add(('GONE', 'web-1'))

        result = self._undeploy('web', '--timeout', '5')

        self.assertEqual(1, result.status)
        self.assertIn(f'Not deleted: web-1 ({WEB_1}) did not go away. '
                      f'Stopped and kept, ', result.err.splitlines()[-1])
        # The other parent goes, with what is co-located with it.
        self.assertEqual(['disk-1', 'log-1', 'other', 'web-1'], self.names())


class TestForce(UndeployTestCase):
    """With --force all that can be deleted is deleted."""

    def test_order(self):
        self.assertEqual(0, self._undeploy('web', '--force').status)
        self.assertEqual(
            [('stop', 'web-1'), ('stop', 'disk-1'), ('stop', 'agent-2'),
             ('stop', 'log-1')], [each for each in self.done
                                  if each[0] == 'stop'])
        self.assertEqual(['other'], self.names())

    def test_one_that_does_not_stop(self):
        self.stuck.add(('SHUTOFF', 'web-1'))

        result = self._undeploy('web', '--timeout', '5', '--force')

        self.assertEqual(0, result.status)
        self.assertIn('web-1 was not stopped after 5 seconds; trying to '
                      'delete it nevertheless', result.err.splitlines())
        self.assertLess(self.done.index(('shutoff', 'log-1')),
                        self.done.index(('delete', 'web-1')))
        self.assertEqual(['other'], self.names())

    def test_one_that_can_be_neither_stopped_nor_deleted(self):
        self.surprises['stop', 'web-1'] = (409, 'locked')
        self.surprises['delete', 'web-1'] = (409, 'locked')
        self.servers[WEB_1]['locked'] = True

        result = self._undeploy('web', '--force')

        self.assertEqual(1, result.status)
        self.assertEqual(
            f'Not deleted: web-1 ({WEB_1}) could not be deleted: locked (HTTP '
            f'409). What it takes: web-1: unlock it (openstack server unlock '
            f'{WEB_1})', result.err.splitlines()[-1])
        self.assertEqual(['other', 'web-1'], self.names())

    def test_while_a_cell_is_down(self):
        """Nobody can tell what is co-located with what."""
        self.servers[WEB_1] = {'id': WEB_1, 'status': 'UNKNOWN'}
        self.assert_one_line('Nothing is changed while a part of the cloud',
                             self._undeploy('web', '--force'))
        self.assertEqual([], self.done)

    def test_nothing_of_that_name(self):
        self.assert_one_line("Your project has no units of a service 'nope'",
                             self._undeploy('nope', '--force'))
