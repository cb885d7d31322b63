# SPDX-License-Identifier: Apache-2.0

import dataclasses
import datetime
import itertools

import hypothesis
from hypothesis import strategies as st
import testtools

from pcloud.rules.placing import attributes
from pcloud.rules.placing import constraints
from pcloud.rules.placing import machines


def machine(cpu=4, ram=4096, storage=100 * 1024, name='h', **held):
    return machines.Machine(
        {'cpu': cpu, 'ram': ram, 'storage': storage},
        {key: frozenset(values) for key, values in held.items()},
        frozenset([name]))


def wanted(written):
    return machines.wanted(constraints.effective(
        [('request', constraints.parse(written))], {}))


class UnmetTest(testtools.TestCase):

    def _unmet(self, written, *those):
        return [sorted(each) for each in machines.unmet(
            wanted(written), those)]

    def test_sizes(self):
        self.assertEqual([[], ['ram']], self._unmet(
            'ram=3G', machine(ram=4096), machine(ram=3071)))
        self.assertEqual([['cpu', 'ram', 'storage']], self._unmet(
            'cpu=2', machine(cpu=1, ram=511, storage=4095)))
        self.assertEqual([[]], self._unmet(
            'cpu=0 ram=0.0 storage=0G', machine(0, 0, 0)))
        # Half a megabyte is not nothing.
        self.assertEqual({'ram': 1}, {
            key: wanted('ram=0.5M').minimums[key] for key in ['ram']})
        self.assertEqual([['cpu'], []], self._unmet(
            'cpu=1.5', machine(cpu=1), machine(cpu=2)))

    def test_what_a_machine_does_not_report(self):
        nothing = machine(cpu=0, ram=0, storage=0)
        for written in ('', 'rack=', 'cpu=64 ram=1T storage=1P'):
            self.assertEqual([[]], self._unmet(written, nothing))
        pinned = machine(cpu=0, ram=4096)
        self.assertEqual([['ram'], []], self._unmet(
            'cpu=2 ram=8G', pinned, machine(cpu=2, ram=8192)))
        # The best of which nothing is known is not the best that is known.
        self.assertEqual([['cpu'], []], self._unmet(
            'cpu=max', pinned, machine(cpu=1)))
        self.assertEqual([[], []], self._unmet('cpu=max', pinned, nothing))
        # Nor is anything less than the greatest of no machine.
        self.assertEqual([['rack']], self._unmet('cpu=max rack=r1', pinned))

    def test_the_greatest(self):
        """cpu=max ram=max, where no machine has both."""
        fast, large = machine(cpu=8, ram=1024), machine(cpu=4, ram=8192)
        self.assertEqual([['ram'], ['cpu']], self._unmet(
            'cpu=max ram=max', fast, large))
        self.assertEqual([[], ['cpu']], self._unmet('cpu=max', fast, large))
        both = machine(cpu=8, ram=8192)
        self.assertEqual([['ram'], ['cpu'], []], self._unmet(
            'cpu=max ram=max', fast, large, both))
        # Among those that satisfy all else.
        self.assertEqual(
            [['rack'], []],
            self._unmet('cpu=max rack=r1', machine(cpu=8, rack=['r2']),
                        machine(cpu=2, rack=['r1'])))
        self.assertEqual([['ram'], []], self._unmet(
            'cpu=max ram=2G', fast, large))

    def test_attributes(self):
        one = machine(classes=['a', 'c'], rack=['r1'])
        other = machine(classes=['a', 'b'])
        none = machine()
        self.assertEqual([[], ['classes'], ['classes']], self._unmet(
            'classes=a,^b', one, other, none))
        self.assertEqual([[], ['classes'], []], self._unmet(
            'classes=^b', one, other, none))
        self.assertEqual([[], ['rack'], ['rack']], self._unmet(
            'rack=r1', one, other, none))
        self.assertEqual([[]], self._unmet('rack= ec2-zone=x', none))

    def test_all_attributes(self):
        self.assertEqual(
            {'rack', 'hardware_class', 'next_reboot'},
            wanted('rack=r1 hardware_class>=1 hardware_class=^2 cpu=1 '
                   'next_reboot>=2031-05-06 trait:A=required').all_attributes)

    def test_resources(self):
        def of(amount):
            return machines.Machine({}, {}, (), {'VGPU': amount, 'PCPU': 8})

        for written, amount, unmet in (
                ('resource:VGPU=2', 2, []),
                ('resource:VGPU=2', 3, []),
                ('resource:VGPU=2', 1, ['resource:VGPU']),
                ('resource:VGPU=1', 0, ['resource:VGPU']),
                # Nothing is filtered.
                ('resource:VGPU=0', 0, []),
                ('resource:VGPU=', 0, []),
                # A class that the machine has not.
                ('resource:CUSTOM_A=1', 9, ['resource:CUSTOM_A']),
                ('resource:CUSTOM_A=1 resource:VGPU=1', 0,
                 ['resource:CUSTOM_A', 'resource:VGPU']),
                ('resource:PCPU=8 resource:VGPU=1', 0, ['resource:VGPU'])):
            self.assertEqual([unmet], self._unmet_but_sizes(
                written, of(amount)), written)

    def _unmet_but_sizes(self, written, *those):
        what = dataclasses.replace(wanted(written), minimums={})
        return [sorted(each) for each in machines.unmet(what, those)]

    def test_traits(self):
        has, has_not = (machines.Machine({}, {}, (), {}, frozenset(traits))
                        for traits in (['A', 'B'], ['B']))
        unknown = machines.Machine({}, {}, (), {}, None)
        for written, of_has, of_has_not, of_unknown in (
                ('trait:A=required', [], ['trait:A'], ['trait:A']),
                ('trait:A=forbidden', ['trait:A'], [], ['trait:A']),
                ('trait:A=', [], [], []),
                ('trait:A=required trait:B=forbidden', ['trait:B'],
                 ['trait:A', 'trait:B'], ['trait:A', 'trait:B'])):
            self.assertEqual(
                [of_has, of_has_not, of_unknown], self._unmet_but_sizes(
                    written, has, has_not, unknown), written)

    def test_minimums_of_attributes(self):
        for name, least, own, is_met in (
                ('platform_version', '20260101T000000Z',
                 '20260101T000000Z', True),
                ('platform_version', '20260101T000000Z',
                 '20251231T235959Z', False),
                ('platform_version', '2.9', '2.10', True),
                ('platform_version', '2.10', '2.9', False),
                ('platform_version', '1', '1.0', True),
                # Neither is before the other.
                ('platform_version', '20260101T000000Z', '9.9', False),
                ('platform_version', '1.0', '20260101T000000Z', False),
                ('hardware_class', '3', '3', True),
                ('hardware_class', '3', '10', True),
                ('hardware_class', '3', '2.5', False),
                ('hardware_class', '-1', '0', True),
                ('next_reboot', '2027-01-01', '2027-01-01', True),
                ('next_reboot', '2027-01-01', '2027-01-01T12:00:00Z', False),
                ('next_reboot', '2027-01-01T12:00:00Z', '2027-01-01', True),
                ('next_reboot', '2027-01-01', None, False),
                ('hardware_class', '0', None, False),
                ('platform_version', '', None, True)):
            held = machine(**{name: [] if own is None else [
                attributes.read(name, own)]})
            self.assertEqual(
                [[] if is_met else [f'{name}>']],
                self._unmet(f'{name}>={least}', held), (name, least, own))

    def test_values_and_a_minimum_both_hold(self):
        written = 'hardware_class=^3 hardware_class>=2'
        for own, unmet in ((1., ['hardware_class>']), (2., []),
                           (3., ['hardware_class']), (4., [])):
            self.assertEqual([unmet], self._unmet(
                written, machine(hardware_class=[own])), own)

    def test_the_greatest_of_those_with_what_placement_has(self):
        large = machine(cpu=8)
        small = dataclasses.replace(
            machine(cpu=2), resources={'VGPU': 1}, traits=frozenset('A'))
        for written in ('cpu=max resource:VGPU=1',
                        'cpu=max trait:A=required'):
            self.assertEqual([], self._unmet(written, large, small)[1])
            self.assertEqual([None, 0], machines.levels(
                wanted(written), [large, small]))

    def test_host(self):
        self.assertEqual([[], ['host']], self._unmet(
            'host=a', machine(name='a'), machine(name='b')))


class LevelsTest(testtools.TestCase):
    """The turns of machines once greater machines are gone."""

    them = st.lists(st.builds(
        machine, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3),
        rack=st.sampled_from(['', 'l', 'r'])), max_size=6)
    written = st.sampled_from([
        'ram=max', 'ram=max storage=0 cpu=2', 'cpu=max ram=max storage=0',
        'cpu=max ram=max storage=max', 'cpu=max ram=2M rack=l storage=0',
        'ram=1M storage=0'])

    @hypothesis.given(them, written)
    def test_large_enough(self, them, written):
        what = wanted(written)
        rest = dataclasses.replace(what, minimums={})
        there = [machine for machine, keys in zip(
            them, machines.unmet(rest, them)) if not keys]
        found = machines.large_enough(what, {
            size: [machine.sizes[size] for machine in there]
            for size in constraints.SIZES})
        self.assertEqual(
            [id(machine) for machine, keys in zip(
                them, machines.unmet(what, them)) if not keys],
            [id(there[number]) for number in found])

    @hypothesis.given(them, written)
    def test_machines_of_levels_before_are_gone(self, them, written):
        what = wanted(written)
        levels = machines.levels(what, them)
        remaining = list(range(len(them)))
        expected, level = [None] * len(them), 0
        while passing := [
                number for number, keys in zip(remaining, machines.unmet(
                    what, [them[number] for number in remaining]))
                if not keys]:
            for number in passing:
                expected[number] = level
                remaining.remove(number)
            level += 1
        self.assertEqual(expected, levels)

    def test_each_of_many_machines_is_looked_at_a_few_times(self):
        """A cloud may have as many sizes as hosts."""
        reads = []

        class Sizes(dict):
            def __getitem__(self, key):
                reads.append(key)
                return super().__getitem__(key)

        them = [machines.Machine(
            Sizes(cpu=4, ram=4096 + number, storage=100 * 1024), {}, ())
            for number in range(300)]
        levels = machines.levels(wanted('ram=max cpu=max'), them)
        self.assertEqual(list(range(299, -1, -1)), levels)
        self.assertLess(len(reads), 10 * len(them))


class WasteTest(testtools.TestCase):

    def test_of_the_seed(self):
        """ram=3G, and machines of 4G and 6G."""
        what = wanted('ram=3G')
        small, large = machine(ram=4096), machine(ram=6144)
        wastes = [machines.waste(what, each.sizes, {})
                  for each in (large, small)]
        self.assertEqual([3072, 1024], [each[1] for each in wastes])
        self.assertEqual([0.0, 1.0], machines.waste_scores(wastes))

    def test_order(self):
        """Memory, then cpus, then storage."""
        what = wanted('ram=1G cpu=max storage=0')
        order = [machine(8, 2048, 1), machine(2, 2048, 2),
                 machine(1, 2049, 0)]
        wastes = [machines.waste(what, each.sizes, {}) for each in order]
        self.assertEqual(
            [(False, 1024, 0, 1), (False, 1024, 0, 2), (False, 1025, 0, 0)],
            wastes)
        self.assertEqual([1.0, 0.5, 0.0], machines.waste_scores(wastes))
        self.assertEqual([1.0, 1.0], machines.waste_scores(
            [(1,)] * 2))
        self.assertEqual([], machines.waste_scores([]))

    def test_too_small(self):
        what = wanted('ram=3G')
        wastes = [machines.waste(what, each.sizes, {}) for each in (
            machine(ram=1024), machine(ram=4096), machine(ram=8192))]
        self.assertEqual([0.0, 1.0, 0.5], machines.waste_scores(wastes))
        self.assertEqual([True, False, False], [each[0] for each in wastes])

    def test_a_size_that_is_not_reported(self):
        """It wastes most where somebody asks for it, else nothing."""
        for written, size, wastes_most in (
                ('ram=3G', 'ram', True),
                ('ram=3G', 'cpu', False),
                ('ram=3G', 'storage', False),
                ('cpu=2', 'cpu', True),
                ('cpu=2 resource:PCPU=2', 'cpu', False),
                ('cpu=2 resource:VCPU=2', 'cpu', False),
                ('cpu=2 resource:VGPU=2', 'cpu', True),
                ('ram=3G resource:MEMORY_MB=1', 'ram', False),
                ('storage=9G', 'storage', True),
                ('storage=9G resource:DISK_GB=1', 'storage', False),
                ('storage=0', 'storage', False),
                ('storage=max', 'storage', False),
                # What is built in, nobody asks for.
                ('storage= rack=a', 'storage', False)):
            what, amounts = wanted(written), dict.fromkeys(
                ('PCPU', 'VCPU', 'VGPU', 'MEMORY_MB', 'DISK_GB'), 2)
            without = machines.waste(
                what, machine(**{size: 0}).sizes, amounts)
            full = machines.waste(what, machine().sizes, amounts)
            self.assertEqual(wastes_most, without > full, written)
            self.assertEqual(wastes_most, without[0], written)

    def test_resource_classes_in_the_order_of_their_names(self):
        what = wanted('cpu=0 ram=0 storage=0 resource:VGPU=1 '
                      'resource:CUSTOM_A=2 resource:VCPU=0')

        def waste(vgpus, custom, cpu=1):
            return machines.waste(
                what, machine(cpu, 0, 0).sizes,
                {'VGPU': vgpus, 'CUSTOM_A': custom})

        self.assertEqual((False, 0, 1, 0, 3, 1), waste(2, 5))
        order = [waste(1, 2), waste(8, 2), waste(1, 3), waste(1, 2, cpu=2),
                 waste(9, 1)]
        self.assertEqual(order, sorted(order))
        self.assertTrue(waste(9, 1)[0])
        self.assertEqual((True, 0, 1, 0, -2, -1), machines.waste(
            what, machine(1, 0, 0).sizes, {}))


class UnmeetableTest(testtools.TestCase):

    def _found(self, *unmet):
        return machines.unmeetable(map(frozenset, unmet))

    def test_alone(self):
        self.assertEqual([('cpu',)], self._found(['cpu', 'ram'], ['cpu']))
        self.assertEqual([('cpu',), ('ram',)],
                         self._found(['ram', 'cpu', 'rack'], ['cpu', 'ram']))

    def test_two(self):
        self.assertEqual([('cpu', 'ram')], self._found(['cpu'], ['ram']))
        self.assertEqual([('cpu', 'ram')], self._found(
            ['cpu', 'rack'], ['ram', 'storage'], ['cpu', 'ram', 'rack'],
            ['cpu', 'storage'], ['ram', 'rack']))

    def test_more(self):
        self.assertEqual([('a', 'b', 'c')],
                         self._found(['a'], ['b'], ['c']))
        self.assertEqual([('a', 'b', 'd')], self._found(
            ['a'], ['b'], ['c', 'd']))

    def test_none(self):
        self.assertEqual([], self._found())
        self.assertEqual([], self._found([], ['cpu']))

    @hypothesis.given(st.lists(
        st.frozensets(st.sampled_from('abcde'), min_size=1), min_size=1))
    def test_no_machine_meets_them_and_none_can_be_left_out(self, unmet):
        for keys in machines.unmeetable(unmet):
            self.assertTrue(all(each & {*keys} for each in unmet))
            for key in keys:
                self.assertFalse(
                    all(each & ({*keys} - {key}) for each in unmet))
            # No fewer keys would do.
            fewest = next(
                size for size in range(1, 6) if any(
                    all(each & {*some} for each in unmet)
                    for some in itertools.combinations('abcde', size)))
            self.assertEqual(min(3, fewest), min(3, len(keys)))


class FulfilledTest(testtools.TestCase):

    def _text(self, cpu=8, ram=6144, storage=100 * 1024, written=None,
              resources=None, traits=()):
        return constraints.text(machines.fulfilled(
            {'cpu': cpu, 'ram': ram, 'storage': storage}, written or {},
            resources or {}, traits))

    def test_sizes(self):
        self.assertEqual('cpu=8 ram=6G storage=100G', self._text())
        self.assertEqual('ram=1T storage=2P', self._text(
            0, 1024 ** 2, 2 * 1024 ** 3))
        self.assertEqual('cpu=2 ram=1000M', self._text(2, 1000, None))
        self.assertEqual('', self._text(None, None, 0))

    def test_attributes(self):
        for written, shown in (
                ({'rack': 'row 1'}, 'rack=row\\ 1'),
                ({'rack': 'a\\ b'}, 'rack=a\\\\\\ b'),
                ({'classes': 'b, a,'}, 'classes=b,a'),
                ({'hardware_class': '2.50'}, 'hardware_class=2.50'),
                # What constraints cannot name.
                ({'rack': 'r1,r2'}, ''), ({'rack': '^r1'}, ''),
                ({'classes': 'a,^b'}, ''), ({'classes': ','}, ''),
                ({'ram': '2G', 'ec2-zone': 'a', 'host': 'h'}, ''),
                ({'room': 'a\nb'}, ''), ({'room': 'x' * 256}, ''),
                ({'next_reboot': '2030-01-01'}, ''),
                ({'Room': 'a', 'room': 'b'}, 'Room=a')):
            self.assertEqual(shown, self._text(0, 0, 0, written), written)

    def test_what_placement_has(self):
        self.assertEqual(
            'cpu=8 resource:CUSTOM_A=1 resource:PCPU=4 '
            'trait:CUSTOM_B=required trait:COMPUTE_A=required',
            self._text(8, 0, 0, {}, {
                'VCPU': 4, 'PCPU': 4, 'CUSTOM_A': 1, 'MEMORY_MB': 7,
                'DISK_GB': 3, 'VGPU': 0}, ('COMPUTE_A', 'CUSTOM_B')))

    def test_the_longest_text(self):
        traits = [f'HW_CPU_{number:03}' for number in range(200)]
        kept = machines.fulfilled(
            {'cpu': 1}, {}, {}, [*traits, 'CUSTOM_LAST'])
        self.assertEqual(100, len(kept))
        self.assertIn('trait:CUSTOM_LAST', kept)
        written = self._text(traits=[f'T{number:0190}' for number
                                     in range(50)])
        self.assertLess(3900, len(written))
        self.assertLessEqual(len(written), 4096)

    @hypothesis.given(
        st.integers(0, 2 ** 50), st.integers(0, 2 ** 50),
        st.integers(0, 2 ** 50),
        st.dictionaries(
            st.sampled_from(['rack', 'Rack', 'classes', 'role', 'a b',
                             'hardware_class', 'platform_version']),
            st.text('ab^, \\=.1\n', min_size=1) | st.just('20260101T000000Z')),
        st.dictionaries(st.sampled_from(['PCPU', 'VGPU', 'CUSTOM_X']),
                        st.integers(0, 2 ** 31)),
        st.sets(st.sampled_from(['HW_A', 'CUSTOM_A'])))
    def test_what_is_told_can_be_read_and_is_met(
            self, cpu, ram, storage, written, resources, traits):
        now = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
        sizes = {'cpu': cpu, 'ram': ram, 'storage': storage}
        told = machines.fulfilled(sizes, written, resources, traits)
        text = constraints.text(told)
        self.assertEqual(told, constraints.parse(text))
        there = machines.Machine(sizes, {
            name: attributes.all_values(
                name, [attributes.Statement(value, True)], now)
            for name, value in written.items()}, (), resources,
            frozenset(traits))
        self.assertEqual(
            [frozenset()], machines.unmet(wanted(text), [there]))
