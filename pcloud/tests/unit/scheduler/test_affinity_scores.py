# SPDX-License-Identifier: Apache-2.0


"""Rounds that are estimated, and rounds of scores that are exact."""

from fractions import Fraction
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st
from nova import conf as nova_conf
from nova import objects
from nova.scheduler import host_manager
from oslo_config import fixture
import testtools

from pcloud import conf
from pcloud import names
from pcloud.objects.placing import affinity_keys
from pcloud.rules.placing import affinity
from pcloud.scheduler import affinity_scores
from pcloud.scheduler import host_capacity
from pcloud.scheduler import memo
from pcloud.scheduler import node_keys

decimals = st.sampled_from([
    '0', '1', '-1', '0.5', '0.1', '0.2', '0.3', '1.5', '100', '-0.7',
    '0.000000000000001', '999999999999999', '-999999999999999'])
weights = decimals.filter(Fraction)
ratios = st.sampled_from([None, 0.0, 0.1, 1.0, 1.5, 4.0, 16.0, 1e-300])
# Thresholds that scores reach exactly, and thresholds out of order.
thresholds = st.tuples(
    st.sampled_from([80.0, 0.3, 1.0, 10.0, 1e15]),
    st.sampled_from([-10.0, 0.0, 0.1, 1.0, 100.0]), st.integers(1, 10))
metadata = st.fixed_dictionaries({}, optional={
    f'{names.NODE_KEY_PREFIX}A': decimals,
    f'{names.NODE_KEY_PREFIX}B': decimals,
    names.TYPE: st.just(names.TYPE_PCLOUD),
    names.CPU_RATIO: st.sampled_from(['0.3', '2', '1024', 'none']),
    names.RAM_RATIO: st.sampled_from(['0.3', '2', '1024', 'none'])})
metrics = st.lists(st.tuples(
    st.sampled_from(['cpu.percent', 'cpu.user.percent']),
    st.sampled_from([None, 0, 10, 33, 100, 101, -1])), max_size=3)
offered = st.builds(
    affinity.Key, st.sampled_from(['A', 'B', '_C']), decimals.map(Fraction),
    weights.map(Fraction))
hosts = st.tuples(
    st.sampled_from([None, 0, 1, 3, 512, 262143]), st.integers(-3, 4096),
    st.sampled_from([None, 0, 1, 3, 64]), st.integers(0, 300), ratios, ratios,
    metrics, st.lists(st.integers(0, 3), max_size=4, unique=True))


def _metric(name, value):
    metric = objects.MonitorMetric(name=name)
    if value is not None:
        metric.value = value
    return metric


def _host(drawn, aggregates):
    memory, free, cpus, used, cpu_ratio, ram_ratio, its, places = drawn
    host = host_manager.HostState('h', 'n', 'cell')
    host.total_usable_ram_mb, host.free_ram_mb = memory, free
    host.vcpus_total, host.vcpus_used = cpus, used
    host.cpu_allocation_ratio, host.ram_allocation_ratio = (
        cpu_ratio, ram_ratio)
    host.metrics = objects.MonitorMetricList(
        objects=[_metric(*pair) for pair in its]) if its else None
    host.aggregates = [aggregates[place] for place in places]
    return host


class RoundsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()
        conf.register_opts(nova_conf.CONF)
        self.conf = self.useFixture(fixture.Config(nova_conf.CONF))

    def _limit(self, first, last, steps):
        self.conf.config(group='pcloud', initial_msav=first, final_msav=last,
                         msav_steps=steps)

    @given(st.lists(hosts, min_size=1, max_size=5),
           st.lists(metadata, min_size=4, max_size=4),
           st.dictionaries(st.sampled_from(['A', 'B', *affinity.SPECIAL]),
                           st.tuples(decimals, weights)), thresholds)
    def test_as_the_exact_score(self, drawn, metadata, wanted, limits):
        self._limit(*limits)
        aggregates = [objects.Aggregate(metadata=each) for each in metadata]
        them = [_host(each, aggregates) for each in drawn]
        wished = memo.CompiledKeys({
            name: affinity.Key(name, *map(Fraction, pair))
            for name, pair in wanted.items()}, {})
        numbers = [affinity.round_of(score, affinity_scores.thresholds())
                   for score in affinity_scores.system(them, wished)]
        self.assertEqual(numbers, affinity_scores.rounds(them, wished))
        self.assertEqual([number is not None for number in numbers],
                         affinity_scores.in_rounds(them, wished))

    def test_a_tenth_and_two_tenths_are_three_tenths(self):
        """And that does not exceed a threshold of three tenths."""
        self._limit(0.3, 0.3, 1)
        host = _host((512, 512, 4, 0, 1.0, 1.0, [], []), [])
        keys = [affinity.parse('#RAM=0:0.1'), affinity.parse('#CPU=0:0.2')]
        wished = memo.CompiledKeys({key.name: key for key in keys}, {})
        self.assertEqual([None], affinity_scores.rounds([host], wished))
        self._limit(0.3 - 1e-15, 0.3, 2)
        self.assertEqual([0], affinity_scores.rounds([host], wished))

    def test_few_hosts_are_computed_exactly(self):
        them = [_host((262144, number, 64, number % 64, 1.0, 1.0, [], []), [])
                for number in range(1000)]
        key = affinity.parse('#RAM=1:77')
        wished = memo.CompiledKeys({key.name: key}, {})
        with mock.patch.dict(node_keys.COMPUTED, {
                key.name: mock.Mock(return_value=Fraction(0))}) as computed:
            affinity_scores.rounds(them, wished)
            self.assertEqual([], computed[key.name].mock_calls)

    def test_hosts_are_asked_where_the_rest_leaves_it_open(self):
        """A tenth of the memory is used on each host: the key adds 9."""
        aggregates = [objects.Aggregate(metadata={
            f'{names.NODE_KEY_PREFIX}A': '1',
            f'{names.NODE_KEY_PREFIX}B': weight}) for weight in '01']
        them = [_host((1000, 900, 1, 1, 1.0, 1.0, [], [number]), aggregates)
                for number in (0, 1)]
        keys = [*map(affinity.parse, ('#RAM=0:10', 'A=1:5', 'B=1:10'))]
        wished = memo.CompiledKeys({key.name: key for key in keys}, {})
        # The scores are 14 and 24, at least 5 and 15, at most 15 and 25.
        for limit, expected, asked in (
                (4.9, [True, True], []), (5, [True, True], them[:1]),
                (14, [False, True], them[:1]), (15, [False, True], them[1:]),
                (24, [False, False], them[1:]), (25, [False, False], [])):
            self._limit(limit, limit, 1)
            with mock.patch.object(
                    affinity_scores, 'rounds',
                    side_effect=affinity_scores.rounds) as rounds:
                self.assertEqual(
                    expected, affinity_scores.in_rounds(them, wished))
            self.assertEqual(
                [mock.call(asked, wished)] if asked else [],
                rounds.mock_calls)

    @given(st.lists(hosts, min_size=1, max_size=5),
           st.lists(metadata, min_size=4, max_size=4))
    def test_ratios(self, drawn, metadata):
        aggregates = [objects.Aggregate(metadata=each) for each in metadata]
        them = [_host(each, aggregates) for each in drawn]
        for name in (names.CPU_RATIO, names.RAM_RATIO):
            self.assertEqual(
                [host_capacity.ratio(host, name) for host in them],
                [host_capacity.exact(each) for each
                 in host_capacity.estimated_ratios(
                     them, aggregates, name)])

    @given(st.lists(hosts, min_size=1, max_size=5))
    def test_estimates_are_close(self, drawn):
        """A hundred times closer than the error that is allowed for."""
        them = [_host((*each[:-1], []), []) for each in drawn]
        for name, tell in node_keys.COMPUTED.items():
            for host, found in zip(
                    them, node_keys.ESTIMATED[name](them, ())):
                self.assertLess(abs(tell(host) - Fraction(found)),
                                Fraction(1, 10 ** 14))

    def test_load_of_a_new_report(self):
        """The load is remembered with a report, and not with the host."""
        host = _host((1, 1, 1, 1, 1.0, 1.0, [('cpu.percent', 10)], []), [])
        tell = node_keys.ESTIMATED[affinity.LOAD]
        self.assertEqual([0.1, 0.1], tell([host], ()) + tell([host], ()))
        host.metrics = objects.MonitorMetricList(
            objects=[_metric('cpu.percent', 30)])
        self.assertEqual([0.3], tell([host], ()))
        host.metrics = None
        self.assertEqual([0.0], tell([host], ()))


class NodeKeysTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()

    @given(st.lists(metadata, min_size=3, max_size=3),
           st.lists(st.lists(st.integers(0, 2), unique=True), min_size=1,
                    max_size=4), st.lists(metadata, min_size=3, max_size=3))
    def test_as_each_host_read_alone(self, first, places, second):
        """Also once aggregates have changed."""
        aggregates = [objects.Aggregate(metadata=each) for each in first]
        them = [mock.Mock(aggregates=[aggregates[place] for place in each])
                for each in places]
        for metadata in (first, second):
            for aggregate, its in zip(aggregates, metadata):
                aggregate.metadata = its
            of_hosts, kinds = node_keys.grouped(them, set(aggregates))
            self.assertEqual(
                [affinity_keys.of_node(
                    aggregate.metadata for aggregate in host.aggregates)[0]
                 for host in them], [kinds[kind] for kind in of_hosts])


class CustomerTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()

    @given(st.lists(st.tuples(st.booleans(), st.lists(offered, max_size=3)),
                    min_size=1, max_size=4),
           st.dictionaries(st.sampled_from(['A', 'B', '_C']), decimals),
           st.lists(offered, max_size=3), st.integers(1, 2))
    def test_as_the_score_of_each_host(self, drawn, node, wanted, servers):
        """A host offers its reserved keys and those of its servers."""
        aggregate = objects.Aggregate(metadata={
            f'{names.NODE_KEY_PREFIX}{name}': value
            for name, value in node.items()})
        them = [host_manager.HostState(f'h{number}', f'n{number}', 'cell')
                for number in range(len(drawn))]
        for host, (has_keys, _) in zip(them, drawn):
            host.aggregates = [aggregate] if has_keys else []
        wished = memo.CompiledKeys({}, affinity.compiled([wanted]))
        with mock.patch.object(affinity_scores, '_running', return_value={
                host.host: tuple(keys)
                for host, (_, keys) in zip(them, drawn) if keys}):
            found = affinity_scores.customer(
                them, objects.RequestSpec(num_instances=servers), wished)
        reserved = [(name, Fraction(value)) for name, value in node.items()
                    if affinity.is_reserved(name)]
        self.assertEqual([affinity.score(wished.customer, [
            *(reserved if has_keys else ()),
            *((key.name, key.value) for key in keys)])
            for has_keys, keys in drawn], found)

    def test_reserved_keys_of_hosts(self):
        """They count as soon as one customer key is reserved."""
        host = host_manager.HostState('h', 'n', 'cell')
        host.aggregates = [objects.Aggregate(metadata={
            f'{names.NODE_KEY_PREFIX}_C': '1'})]
        wished = memo.CompiledKeys({}, affinity.compiled([
            [affinity.parse('A=1:5'), affinity.parse('_C=1:7')]]))
        with mock.patch.object(
                affinity_scores, '_running', return_value={}):
            self.assertEqual([Fraction(7)], affinity_scores.customer(
                [host], objects.RequestSpec(num_instances=1), wished))


class EstimatesTest(testtools.TestCase):

    @given(st.lists(decimals.map(Fraction), min_size=1, max_size=3),
           st.dictionaries(st.sampled_from('ABC'), st.tuples(
               decimals, weights, st.fractions(0, 1)), max_size=3))
    def test_error(self, bases, keys):
        wanted = {name: affinity.Key(name, Fraction(value), Fraction(weight))
                  for name, (value, weight, _) in keys.items()}
        kinds = [*range(len(bases))]
        guesses, error = affinity.estimated_scores(wanted, bases, kinds, {
            name: [float(share)] * len(bases)
            for name, (_, _, share) in keys.items()})
        for base, guess in zip(bases, guesses):
            exact = base + affinity.score(wanted, [
                (name, share) for name, (_, _, share) in keys.items()])
            self.assertLessEqual(abs(exact - Fraction(guess)),
                                 Fraction(error) / 100)

    @given(st.lists(decimals.map(Fraction), min_size=1, max_size=4),
           decimals.map(Fraction), st.sampled_from([0.0, 1e-9, 0.5]),
           st.floats(-1, 1))
    def test_certain_rounds(self, limits, score, error, part):
        guess = float(score) + error * part * 0.9
        found, = affinity.estimated_rounds([guess], error, limits)
        if found != affinity.UNCERTAIN:
            self.assertEqual(affinity.round_of(score, limits), found)

    def test_thresholds_are_estimates_too(self):
        self.assertEqual(
            [affinity.UNCERTAIN, 0, None], affinity.estimated_rounds(
                [2e9 / 3 + 1e-5, 2e9 / 3 + 1, 2e9 / 3 - 1], 0.0,
                [Fraction(2 * 10 ** 9, 3)]))
