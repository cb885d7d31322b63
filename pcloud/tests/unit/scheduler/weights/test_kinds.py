# SPDX-License-Identifier: Apache-2.0


"""Weighers that ask about each kind of host, and about each host.

Both ways have to make exactly the same weights, whatever the multipliers of
aggregates, and whatever servers of the same request were placed before.
"""

import collections
import datetime
from unittest import mock

import ddt
from hypothesis import given
from hypothesis import strategies as st
from nova import conf as nova_conf
from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import weights
from oslo_config import fixture
from oslo_utils import fixture as utils_fixture
import testtools

from pcloud import exception
from pcloud import names
from pcloud.rules import host_resources
from pcloud.rules.placing import attributes
from pcloud.rules.placing import constraints
from pcloud.rules.placing import machines
from pcloud.rules.placing import spread
from pcloud.scheduler import candidates
from pcloud.scheduler import host_capacity
from pcloud.scheduler import memo
from pcloud.scheduler import siblings
from pcloud.scheduler import weights as ours
from pcloud.scheduler.weights import base

NOW = datetime.datetime(2026, 12, 1, tzinfo=datetime.UTC)
WEIGHERS = {each.__name__: each for each in ours.all_weighers()
            if issubclass(each, base.ScoreWeigher)}
OPTIONS = sorted(each.option for each in WEIGHERS.values())
ATTRIBUTES = sorted(names.attribute_key(each.attribute)
                    for each in WEIGHERS.values()
                    if issubclass(each, base.AttributeWeigher))
VALUES = ['20260101T000000Z', '2.10', '2.9', '3', '4', '-1.5', '2999-01-01',
          '2999-01-03', '2999-03-01', '2000-01-01', 'nonsense']

metadata = st.fixed_dictionaries({}, optional={
    **dict.fromkeys(ATTRIBUTES, st.sampled_from(VALUES)),
    **dict.fromkeys(OPTIONS, st.sampled_from(
        ['0', '0.1', '-3', '7', 'nan', 'inf', 'nonsense', '-0.0'])),
    names.TYPE: st.just(names.TYPE_ATTRIBUTE)})
hosts = st.tuples(
    st.lists(st.integers(0, 3), max_size=3, unique=True),
    st.sampled_from([0, 1, 2, 64]), st.sampled_from([0, 512, 1024, 4096]),
    st.sampled_from([0, 4, 100]), st.integers(0, 2), st.integers(0, 1))
written = st.sampled_from([
    '', 'ram=1G', 'cpu=2 resource:VGPU=1', 'resource:VCPU=2 storage=4G',
    'resource:CUSTOM_A=1 resource:VGPU=2 ram=0'])
several = st.lists(hosts, min_size=2, max_size=7)
options = st.fixed_dictionaries(dict.fromkeys(
    OPTIONS, st.sampled_from([0.0, 1.0, 0.1, -3.0])))


def _host(number, vcpus, memory, disk, aggregates):
    host = host_manager.HostState(f'h{number}', f'n{number}', 'cell')
    host.vcpus_total, host.total_usable_ram_mb = vcpus, memory
    host.total_usable_disk_gb, host.free_ram_mb = disk, memory
    host.cpu_allocation_ratio = host.ram_allocation_ratio = 1.0
    host.aggregates, host.num_instances = aggregates, 3
    host.uuid = f'u{number}'
    return host


class EachHost(base.ListWeigher):
    """Weigh as a weigher of Pcloud, host by host."""

    def __init__(self, weigher):
        self._weigher = weigher

    def weight_multiplier(self, host_state):
        return base.multiplier(host_state, self._weigher.option)

    def weigh_objects(self, weighed_obj_list, weight_properties):
        hosts = [weighed.obj for weighed in weighed_obj_list]
        # For a single server filters have dropped all hosts but the best.
        standings = (siblings.standings(weight_properties, hosts)
                     if siblings.are_several(weight_properties) else
                     [()] * len(hosts))
        groups = collections.defaultdict(list)
        for host, standing in zip(hosts, standings):
            groups[standing].append(host)
        scores = {id(host): score for group in groups.values()
                  for host, score in zip(group, self._scores(
                      group, weight_properties))}
        return [scores[id(host)] for host in hosts]

    def _scores(self, hosts, spec):
        values = [self._value(host) for host in hosts]
        match type(self._weigher).__name__:
            case 'PlatformWeigher':
                return attributes.platform_scores(values)
            case 'RebootWeigher':
                return attributes.reboot_scores(
                    values, NOW, datetime.timedelta(days=7))
            case 'HardwareClassWeigher':
                return attributes.hardware_scores(values)
            case 'LeastWasteWeigher':
                what = machines.wanted(memo.of_request(spec).settings)
                held = memo.of_request(spec).holdings
                return machines.waste_scores([machines.waste(
                    what, host_capacity.sizes(host),
                    {**held[host.uuid].total, 'VCPU': host.vcpus_total})
                    for host in hosts])
            case 'OwnerSpreadWeigher':
                placed = siblings.numbers(spec, hosts)
                return spread.scores([
                    memo.of_request(spec).owned[host.host] +
                    placed.get(host.host, 0) for host in hosts])

    def _value(self, host):
        name = getattr(self._weigher, 'attribute', None)
        value, _ = attributes.effective(name, [
            attributes.Statement(each.metadata[key],
                                 names.is_attribute(each.metadata))
            for each in host.aggregates
            if (key := names.attribute_key(f'{name}')) in each.metadata], NOW)
        return None if value is None else attributes.read(name, value)


@ddt.ddt
class KindsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()
        self.conf = self.useFixture(fixture.Config(nova_conf.CONF))
        nova_conf.CONF([], project='nova', default_config_files=[])
        self.conf.config(group='pcloud', reboot_bucket_days=7)
        self.useFixture(utils_fixture.TimeFixture(NOW))

    def _weights(self, weigher, them, spec):
        return {each.obj.host: each.weight for each
                in weights.HostWeightHandler().get_weighed_objects(
                    [weigher], them, spec)}

    def _assert_same(self, weigher, drawn, metadata, spec, text=''):
        aggregates = [objects.Aggregate(metadata=each) for each in metadata]
        them = [_host(number, vcpus, memory, disk, [
            aggregates[place] for place in places])
            for number, (places, vcpus, memory, disk, _, _)
            in enumerate(drawn)]
        there = memo.of_request(spec)
        there.settings = constraints.effective(
            [('request', constraints.parse(text))], {})
        there.holdings = {host.uuid: host_resources.Resources(
            {'VGPU': level, 'CUSTOM_A': more}, {}, frozenset())
            for host, (*_, level, more) in zip(them, drawn)}
        # As good a number of servers as any.
        there.owned = {host.host: vcpus for host, (_, vcpus, *_)
                       in zip(them, drawn)}
        there.levels = {'F': {host.host: level for host, (*_, level, _)
                              in zip(them, drawn)}}
        # Servers of the same request are on some of the hosts.
        there.counts = [(host, host.num_instances - more)
                        for host, (*_, more) in zip(them, drawn)]
        slow = self._weights(EachHost(weigher), them, spec)
        # A host may have been weighed before, for another request.
        for host in them:
            setattr(host, f'_pcloud_{weigher.option}', 5.0)
        self.assertEqual(slow, self._weights(weigher, them, spec))
        return them

    @given(several, st.lists(metadata, min_size=4, max_size=4), options,
           st.integers(1, 2), written)
    def test_exactly_as_each_host(
            self, drawn, metadata, options, count, text):
        self.conf.config(group='pcloud', **options)
        for made in WEIGHERS.values():
            weigher = made()
            spec = objects.RequestSpec(
                num_instances=count, requested_destination=None,
                flavor=objects.Flavor(vcpus=1, memory_mb=512))
            for host in self._assert_same(
                    weigher, drawn, metadata, spec, text):
                # Where all hosts are equal, Nova has asked for no multiplier.
                vars(host).pop(f'_pcloud_{weigher.option}', None)
                self.assertEqual(
                    repr(base.multiplier(host, weigher.option)),
                    repr(weigher.weight_multiplier(host)))

    def test_most_hosts_and_not_most_kinds_have_versions(self):
        key = names.attribute_key(attributes.PLATFORM)
        stamps = [f'2026010{day}T000000Z' for day in (1, 2)]
        self._assert_same(
            WEIGHERS['PlatformWeigher'](),
            [([place], 1, 1, 1, 0, 0) for place in (0, 0, 0, 1, 2)],
            [{key: value} for value in ('2.9', *stamps)],
            objects.RequestSpec(num_instances=1))

    @ddt.data(*WEIGHERS)
    def test_a_host_that_was_not_weighed(self, name):
        weigher = WEIGHERS[name]()
        host = _host(0, 1, 1, 1, [objects.Aggregate(
            metadata={weigher.option: '2.5'})])
        self.assertEqual(2.5, weigher.weight_multiplier(host))

    def test_a_multiplier_holds_for_one_request(self):
        weigher = WEIGHERS['PlatformWeigher']()
        key = names.attribute_key(attributes.PLATFORM)
        them = [_host(number, 1, 1, 1, [objects.Aggregate(metadata={
            key: version, weigher.option: '2.5'})])
            for number, version in enumerate('12')]
        spec = objects.RequestSpec(num_instances=1)
        self.assertEqual({'h0': 0.0, 'h1': 2.5},
                         self._weights(weigher, them, spec))
        for host in them:
            host.aggregates = []
        self.assertEqual([1.0, 1.0], [*map(weigher.weight_multiplier, them)])

    @ddt.data(*WEIGHERS)
    def test_nothing_is_asked_of_equal_hosts(self, name):
        weigher = WEIGHERS[name]()
        self.conf.config(group='pcloud', **{weigher.option: 1.0})
        them = [_host(number, 1, 1, 1, []) for number in range(3)]
        spec = objects.RequestSpec(num_instances=1)
        memo.of_request(spec).settings = constraints.effective([], {})
        memo.of_request(spec).owned = {}
        with mock.patch.object(WEIGHERS[name], 'weight_multiplier') as asked:
            self.assertEqual(dict.fromkeys(('h0', 'h1', 'h2'), 0.0),
                             self._weights(weigher, them, spec))
        self.assertEqual([], asked.mock_calls)

    @ddt.data(*WEIGHERS)
    def test_no_work_without_a_multiplier(self, name):
        weigher = WEIGHERS[name]()
        self.conf.config(group='pcloud', **{weigher.option: 0.0})
        them = [_host(number, number, 1, 1, [objects.Aggregate(metadata={
            key: value})]) for number, (key, value) in enumerate(
                ((ATTRIBUTES[0], '1'), (weigher.option, '0')))]
        with mock.patch.object(WEIGHERS[name], 'scores') as asked:
            found = weigher.weigh_objects(
                [weights.WeighedHost(host, 0.0) for host in them], None)
        self.assertEqual([], found)
        self.assertEqual([], asked.mock_calls)

    def test_no_waste_is_known_while_placement_is_silent(self):
        """Nobody loses a host for what a weigher cannot know."""
        weigher = WEIGHERS['LeastWasteWeigher']()
        self.conf.config(group='pcloud', waste_weight_multiplier=1.0)
        them = [_host(number, number, 1, 1, []) for number in range(3)]
        spec = objects.RequestSpec(
            num_instances=1, requested_destination=None)
        memo.of_request(spec).settings = constraints.effective(
            [('request', {'resource:VGPU': '1'})], {})
        with mock.patch.object(candidates, 'holdings',
                               side_effect=exception.PlacementSilent):
            self.assertEqual(dict.fromkeys(('h0', 'h1', 'h2'), 0.0),
                             self._weights(weigher, them, spec))

    @ddt.data(*(name for name, each in WEIGHERS.items()
                if issubclass(each, base.AttributeWeigher)))
    def test_no_standings_where_no_host_has_the_attribute(self, name):
        them = [_host(number, 1, 1, 1, []) for number in range(3)]
        with mock.patch.object(siblings, 'standings') as asked:
            found = WEIGHERS[name]().weigh_objects(
                [weights.WeighedHost(host, 0.0) for host in them],
                objects.RequestSpec(num_instances=2))
        self.assertEqual([], found)
        self.assertEqual([], asked.mock_calls)
