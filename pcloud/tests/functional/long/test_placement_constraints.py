# SPDX-License-Identifier: Apache-2.0

"""Constraints on what Placement has of hosts, and on order; and of images."""

import fixtures
from keystoneauth1 import exceptions as ks_exc
from nova import objects
from nova.scheduler.client import report
from nova.tests import fixtures as nova_fixtures
from nova.volume import cinder
from oslo_utils.fixture import uuidsentinel

from pcloud.backend.calls import placement
from pcloud.client import resources
from pcloud.explain import conductor
from pcloud.explain import filtering
from pcloud.planning import host_states
from pcloud.rules.placing import hints
from pcloud.scheduler.filters import constraints
from pcloud.tests.functional.quick import test_constraints
from pcloud.tests.functional.quick import test_host_resources
from pcloud.tests.support import base
from pcloud.tests.support import counting

FPGA, FAST, OLD = 'CUSTOM_FPGA', 'CUSTOM_FAST', 'CUSTOM_OLD'


class SilentQuestion(fixtures.Fixture):
    """Placement does not answer a question with some text in it."""

    def __init__(self, text):
        super().__init__()
        self._text = text

    def _setUp(self):
        get = report.SchedulerReportClient.get

        def refuse(client, url, *args, **options):
            if self._text in url:
                raise ks_exc.ConnectFailure(f'{url}: connection refused')
            return get(client, url, *args, **options)

        self.useFixture(fixtures.MonkeyPatch(
            'nova.scheduler.client.report.SchedulerReportClient.get', refuse))


class PlacementConstraintsTestCase(
        test_constraints.ConstraintsTestCase,
        test_host_resources.ResourcesTestCase):
    """Hosts with a class of their own, on nested providers, and traits."""

    def _configure(self):
        super()._configure()
        self.flags(hardware_class_weight_multiplier=0.0,
                   platform_weight_multiplier=0.0, group='pcloud')

    def furnish(self):
        super().furnish()
        for host, *amounts in (('node-2', 2, 3), ('node-4', 3),
                               ('node-5', 2)):
            for number, amount in enumerate(amounts):
                self.make_child(host, f'{host}-{number}', **{FPGA: amount})
        self.give(self.node('node-3').uuid, [FAST, OLD])
        self.give(self._children('node-5')[0], [FAST])

    def _children(self, host):
        root = self.node(host).uuid
        return sorted(placement.tree(self.context, root) - {root})

    def refused_server(self, written, **more):
        """Return the fault of a server that no host takes."""
        return self.fault(self.boot(
            self.alice, {'constraints': written, **more.pop('hints', {})},
            expected='ERROR', **more))


class ServersTest(PlacementConstraintsTestCase):

    def test_resources(self):
        # The sum of the host's providers.
        self.assertEqual('node-2', self.started(f'resource:{FPGA}=5'))
        self.assertEqual('node-2', self.started(f'resource:{FPGA}=4'))
        # The least waste, of hosts of the same size.
        self.assertEqual('node-5', self.started(f'resource:{FPGA}=2 ram=8G'))
        self.assertEqual('node-4', self.started(f'resource:{FPGA}=3 ram=8G'))
        self.assertEqual('node-1', self.started(f'resource:{FPGA}=0'))
        self.assertIn(
            f'meets the machine constraints resource:{FPGA}=6.',
            self.refused_server(f'resource:{FPGA}=6 ram=1G'))
        # Placement has never heard of it.
        self.assertIn(
            'meets the machine constraints resource:CUSTOM_NONE=1.',
            self.refused_server('resource:CUSTOM_NONE=1'))

    def test_what_nova_knows(self):
        with SilentQuestion('resources=VCPU%3A1'), \
                SilentQuestion('resources=VCPU:1'):
            self.assertEqual('node-3', self.started('resource:VCPU=8'))
            self.assertEqual('node-3', self.started(
                'resource:MEMORY_MB=6144 resource:DISK_GB=100'))
        self.assertIn('resource:PCPU=1',
                      self.refused_server('resource:PCPU=1'))

    def test_traits(self):
        # Of the host, or of a device of the host.
        self.assertEqual('node-3', self.started(f'trait:{FAST}=required'))
        self.assertEqual('node-5', self.started(
            f'trait:{FAST}=required trait:{OLD}=forbidden'))
        self.assertEqual('node-5', self.started(
            f'trait:{FAST}=required resource:{FPGA}=1'))
        self.assertEqual('node-4', self.started(
            f'trait:{FAST}=forbidden ram=6G'))
        # Nobody has a trait that Placement does not know.
        self.assertEqual('node-1', self.started('trait:NONE=forbidden'))
        self.assertIn('meets the machine constraints trait:NONE=required.',
                      self.refused_server('trait:NONE=required'))

    def test_at_least(self):
        self.set_attribute('platform_version', '20251231T000000Z', 'node-1')
        self.set_attribute('platform_version', '20260101T000000Z', 'node-3')
        self.set_attribute('hardware_class', '10', 'node-2')
        self.set_attribute('hardware_class', '9', 'node-3')
        self.assertEqual('node-3', self.started(
            'platform_version>=20260101T000000Z'))
        self.assertEqual('node-2', self.started('hardware_class>=9.5'))
        self.assertEqual('node-3', self.started(
            'hardware_class>=9 hardware_class=^10'))
        self.assertIn('constraints platform_version>=20270101T000000Z.',
                      self.refused_server(
                          'platform_version>=20270101T000000Z'))

    def test_policies(self):
        self.set_attribute('hardware_class', '10', 'node-2')
        self.set_attribute('hardware_class', '9', 'node-3')
        written = f'hardware_class=^9 hardware_class>=1 resource:{FPGA}=1'
        self.set_policy('cloud', 'default', written)
        path = '/os-pcloud-policies/cloud/default'
        self.assertEqual(written, self.admin.get_json(
            path)['policy']['constraints'])
        self.assertEqual('node-2', self.started())
        # Each falls back on its own, and an empty value ends the fallback.
        self.assertEqual('node-3', self.started(
            f'hardware_class= resource:{FPGA}= cpu=5'))
        self.assertEqual('node-1', self.started(
            f'hardware_class= resource:{FPGA}= hardware_class>='))
        # The operator's values of attributes are for the operator.
        self.set_policy('cloud', 'default',
                        f'hardware_class>=99 resource:{FPGA}=99')
        self.assertIn(
            f'constraints hardware_class>= (cloud), resource:{FPGA}=99.',
            self.refused_server('ram=1G'))
        pcloud = self.make_pcloud(self.alice)
        self.set_policy('pcloud', pcloud, 'trait:NONE=', self.alice)
        for user, value in ((self.admin, '99'), (self.alice, None)):
            shown = user.get_json(
                f'/os-pcloud-policies/pcloud/{pcloud}?effective=1')['policy']
            self.assertEqual('trait:NONE=', shown['constraints'])
            found = {row['key']: row for row in shown['effective']}
            self.assertEqual(value, found['hardware_class>']['value'])
            self.assertEqual('99', found[f'resource:{FPGA}']['value'])
        self.set_policy('cloud', 'default', '')
        self.assertEqual('node-1', self.started())

    def test_few_hosts_of_many(self):
        """The hosts that are right are not among the first by chance."""
        self.flags(max_placement_results=1, group='scheduler')
        for _ in range(3):
            self.assertEqual('node-2', self.started(f'resource:{FPGA}=5'))
            self.assertEqual('node-3', self.started(f'trait:{OLD}=required'))

    def test_a_silent_placement_lets_nobody_in(self):
        self.useFixture(SilentQuestion(f'resources={FPGA}'))
        self.assertIn('does not answer',
                      self.refused_server(f'resource:{FPGA}=1'))
        self.assertEqual('node-1', self.started('ram=1G'))

    def _spec(self, written, **more):
        return conductor.make(
            self.context, objects.Flavor.get_by_flavor_id(self.context, '1'),
            conductor.no_image(), base.ALICE,
            {hints.CONSTRAINTS: [written], **more})

    def test_one_call_of_placement(self):
        """However many hosts there are; and none that is not needed."""
        filter_ = constraints.ConstraintsFilter()
        for written, calls in (
                ('ram=1G', 0), ('resource:VCPU=1 resource:PCPU=0', 0),
                (f'resource:{FPGA}=1', 1), (f'trait:{FAST}=forbidden', 1),
                (f'trait:{FAST}=required', 1),
                (f'resource:{FPGA}=1 resource:VGPU=0 trait:{OLD}=forbidden '
                 f'trait:NONE=forbidden resource:VCPU=1', 1)):
            costs = []
            for hosts in (['node-4', 'node-5'], [*self.hosts]):
                states = host_states.load(self.context, hosts)
                costs.append(counting.least(lambda states=states: list(
                    filter_.filter_all(states, self._spec(written)))))
            self.assertEqual(costs[0], costs[1], written)
            self.assertEqual(calls, costs[0].http, written)

    def test_reasons(self):
        """Each constraint with its level, and what the host has."""
        self.set_policy('cloud', 'default', f'resource:{FPGA}=4')
        spec = self._spec(f'trait:{FAST}=required', **{
            hints.IMAGE_CONSTRAINTS_RECORD: [f'trait:{OLD}=forbidden']})
        states = host_states.load(
            self.context, ['node-1', 'node-3', 'node-4'])
        outcome = filtering.outcome(
            constraints.ConstraintsFilter(), states, spec)
        told = {each.host_state.host: (each.reason.text, each.reason.detail)
                for each in outcome.dropped}
        text = 'it does not meet the machine constraints '
        all_unmet = (
            f'{text}resource:{FPGA}=4 (cloud), trait:{FAST}=required '
            f'(request), trait:{OLD}=forbidden (image)')
        nothing = (f'it has no {FPGA}, or none left, Placement reports no '
                   'traits of it, Placement reports no traits of it')
        self.assertEqual((all_unmet, nothing), told['node-1'])
        self.assertEqual(
            (f'{text}resource:{FPGA}=4 (cloud), trait:{FAST}=required '
             '(request)', f'its {FPGA} is 3'), told['node-4'])

    def test_owners_are_told(self):
        self.make_pool('without', 'node-1')
        self.make_pool('with', 'node-2')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'without')
        self.set_policy('pcloud', pcloud, f'resource:{FPGA}=4', self.alice)
        found = self.alice.get_json(
            f'/os-pclouds/{pcloud}/explain?flavor=1')['explain']
        told, = found['hosts']
        self.assertIn(
            ('ConstraintsFilter', 'it does not meet the machine constraints '
             f'resource:{FPGA}=4'),
            [(each['rule'], each['reason']) for each in told['in_the_way']])
        # A host that is in no Pcloud yet would do.
        self.assertIn(('add_host', 'with'), [
            (each['change'], each['subject']) for each in found['changes']])


class ImagesTest(PlacementConstraintsTestCase):

    image = uuidsentinel.image

    def _image(self, written):
        return self.glance.create(self.context, {
            'id': self.image, 'name': 'own', 'is_public': False,
            'owner': base.ALICE, 'status': 'active', 'size': 1, 'min_ram': 0,
            'min_disk': 0, 'container_format': 'raw', 'disk_format': 'raw',
            'properties': {'pcloud_constraints': written}})['id']

    def test_a_level_between_request_and_pcloud(self):
        image = self._image('ram=6G')
        self.set_policy('cloud', 'default', 'cpu=3 ram=1G')
        self.assertEqual('node-2', self.started())
        self.assertEqual('node-3', self.started(imageRef=image))
        self.assertEqual('node-2', self.started('ram=', imageRef=image))
        # Whoever may use an image reads its properties.
        self.glance.delete(self.context, image)
        self.assertIn('constraints ram=9G.', self.refused_server(
            'cpu=1', imageRef=self._image('ram=9G')))

    def test_later_moves_keep_it(self):
        image = self._image(f'resource:{FPGA}=2 ram=8G')
        server = self.boot(self.alice, imageRef=image)
        self.assertEqual('node-5', self.host_of(server))
        # Whatever becomes of the image.
        self.glance.delete(self.context, image)
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.assertEqual('node-4', self.host_of(server))

    def test_it_is_recorded_and_shown_to_nobody(self):
        image = self._image('ram=8G')
        server = self.boot(self.alice, imageRef=image)
        spec = objects.RequestSpec.get_by_instance_uuid(
            self.context, server['id'])
        self.assertEqual(['ram=8G'], spec.scheduler_hints[
            hints.IMAGE_CONSTRAINTS_RECORD])
        self.assertNotIn('_pcloud', self.alice.call(
            'GET', f'/servers/{server["id"]}').text)

    def test_volumes(self):
        image = self._image('ram=6G')
        show = cinder.API.get

        def get(api, context, volume_id, **options):
            volume = show(context, volume_id, **options)
            return {**volume, 'volume_image_metadata': {'image_id': image}}

        self.useFixture(fixtures.MonkeyPatch(
            'nova.volume.cinder.API.get', get))
        self.assertEqual('node-3', self.started(
            imageRef='', block_device_mapping_v2=[{
                'boot_index': 0, 'source_type': 'volume',
                'destination_type': 'volume',
                'uuid': nova_fixtures.CinderFixture.IMAGE_BACKED_VOL}]))

    def test_refused(self):
        for written, expected in (
                ('ram=x', "Constraint at character 1: 'ram=x'"),
                ('rack>=r1', 'which have no order'),
                ('gpus=4', "no host has an attribute 'gpus'"),
                ('role=none', "Role 'none' is not defined"),
                ('host=node-1', 'is for administrators')):
            image = self._image(written)
            for user in (self.alice, self.admin):
                message = self.refused(400, user.call, 'POST', '/servers', {
                    'server': {**self._build_server(
                        flavor_id='1', networks='none'), 'imageRef': image}})
                self.assertIn(
                    'The image property pcloud_constraints is not right: ',
                    message)
                self.assertIn(expected, message)
            self.glance.delete(self.context, image)


class HostsTest(PlacementConstraintsTestCase):

    def furnish(self):
        super().furnish()
        self.make_pool('plain', 'node-1')
        self.make_pool('some', 'node-2', 'node-3', units=2)
        self.make_pool('more', 'node-4', units=4)
        self.make_pool('less', 'node-5', units=4)
        self.pcloud = self.make_pcloud(self.alice)
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': -1}}})

    def _call(self, name, written, **more):
        return self.alice.call(
            'POST', f'/os-pclouds/{self.pcloud}/hosts', {
                'host': {'name': name, 'constraints': written, **more}})

    def added(self, name, written, **more):
        """Return the real host that is added."""
        response = self._call(name, written, **more)
        self.assertEqual(201, response.status_code, response.text)
        shown = self.admin.get_json(
            f'/os-pclouds/{self.pcloud}/hosts/{name}')['host']
        return shown['hypervisor_hostname'].partition('.')[0]

    def test_resources_and_traits(self):
        self.assertEqual('node-5', self.added(
            'a', f'resource:{FPGA}=2 ram=8G'))
        self.assertEqual('node-2', self.added('b', f'resource:{FPGA}=4'))
        self.assertEqual('node-3', self.added('c', f'trait:{FAST}=required'))
        self.assertEqual('node-4', self.added(
            'd', f'resource:{FPGA}=3 trait:{FAST}=forbidden'))
        self.assertEqual('node-1', self.added('e', 'resource:VCPU=2'))

    def test_a_host_of_a_flavor_that_another_host_does_not_tell(self):
        """Traits and amounts are those of a host, not of its flavor."""
        self.assertEqual('node-3', self.added(
            'a', f'trait:{OLD}=required ram=4G'))
        self.assertEqual('node-2', self.added(
            'b', f'trait:{OLD}=forbidden ram=4G'))

    def test_what_a_flavor_says_of_itself(self):
        """A user gets a host of the flavor with the flavor's own text."""
        self.set_attribute('rack', 'row 1', 'node-2', 'node-3')
        self.set_attribute('rack', 'row 2', 'node-4')
        shown = {}
        for user in (self.alice, self.admin):
            for flavor in ('plain', 'some', 'more', 'less'):
                shown[user, flavor] = resources.HostFlavor.from_body(
                    user.get_json(f'/os-host-flavors/{flavor}')[
                        'host_flavor']).constraints
        self.assertIn(r'rack=row\ 1', shown[self.admin, 'some'])
        self.assertIn(f'trait:{FAST}=required', shown[self.alice, 'less'])
        self.assertIn(f'resource:{FPGA}=3', shown[self.alice, 'more'])
        for (user, flavor), written in shown.items():
            if user is self.alice:
                self.assertNotIn('rack', written)
            response = self._call('a', written)
            self.assertEqual(201, response.status_code, response.text)
            self.assertEqual(flavor, response.json()['host']['host_flavor'])
            self.alice.call_json(
                'DELETE', f'/os-pclouds/{self.pcloud}/hosts/a')
        # And a server gets such a host.
        self.add_host(self.alice, self.pcloud, 'b', 'less')
        self.assertEqual('node-5', self.started(
            shown[self.admin, 'less'], hints={'pcloud': self.pcloud}))

    def test_none(self):
        message = self.refused(
            409, self._call, 'a', f'resource:{FPGA}=9 trait:{OLD}=required')
        self.assertIn(f'resource:{FPGA}=9 rules out 4 of 4', message)
        self.assertIn(f'trait:{OLD}=required rules out 3 of 4', message)
        self.assertNotIn('node-', message)
        message = self.refused(409, lambda: self._call(
            'a', f'resource:{FPGA}=2 ram=8G', count=2))
        self.assertIn('the most are 1', message)

    def test_a_silent_placement(self):
        self.useFixture(SilentQuestion('/allocation_candidates'))
        for written in (f'resource:{FPGA}=1', f'trait:{FAST}=forbidden'):
            self.assertEqual(503, self._call('a', written).status_code)
        self.assertEqual('node-1', self.added('a', 'ram=1G'))

    def test_calls_do_not_grow(self):
        def refused(written):
            self.useFixture(base.ForgetfulProcess())
            self.assertEqual(409, self._call('a', written).status_code)

        for written in ('ram=1P', f'resource:{FPGA}=99',
                        'trait:NONE=required'):
            self.costs = getattr(self, 'costs', {})
            self.costs[written] = counting.least(
                lambda written=written: refused(written))
        plain = self.costs.pop('ram=1P')
        for cost in self.costs.values():
            self.assertEqual(plain.http + 1, cost.http)
        for host in ('node-4', 'node-5'):
            self.admin.call_json(
                'DELETE', f'/os-host-flavors/'
                f'{"more" if host == "node-4" else "less"}/hosts/{host}')
        for written, cost in self.costs.items():
            self.assertEqual(cost, counting.least(
                lambda written=written: refused(written)), written)
