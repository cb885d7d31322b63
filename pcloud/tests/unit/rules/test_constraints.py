# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import datetime

import dataclasses

import hypothesis
from hypothesis import strategies as st
import testscenarios
import testtools

from pcloud import exception
from pcloud.rules import attributes
from pcloud.rules import constraints

_KEYS = st.sampled_from(['cpu', 'ram', 'storage'])
_AMOUNTS = st.one_of(
    st.just(''), st.just('max'), st.just('0'),
    st.from_regex(r'[0-9]{1,6}(\.[0-9]{1,4})?', fullmatch=True))
_NAMES = st.from_regex(r'x[A-Za-z0-9._-]{0,9}', fullmatch=True)
_VALUES = st.text(st.characters(
    codec='utf-8', categories=['L', 'N', 'P', 'S', 'Zs'],
    exclude_characters=',^'), max_size=12).filter(str.isprintable)
LEVELS = st.dictionaries(_KEYS, _AMOUNTS) | st.dictionaries(_NAMES, _VALUES)


def folded(levels):
    """Leave out what differs in letter case only."""
    return {key: value for key, value in levels.items()
            if [each.casefold() for each in levels].count(
                key.casefold()) == 1}


def machine(cpu=4, ram=4096, storage=100 * 1024, name='h', **held):
    return constraints.Machine(
        {'cpu': cpu, 'ram': ram, 'storage': storage},
        {key: frozenset(values) for key, values in held.items()},
        frozenset([name]))


def wanted(written):
    return constraints.wanted(constraints.effective(
        [('request', constraints.parse(written))], {}))


class ParseTest(testscenarios.WithScenarios, testtools.TestCase):

    scenarios = [(repr(written), {'written': written, 'expected': expected})
                 for written, expected in (
        ('', {}),
        ('  ', {}),
        ('cpu=2', {'cpu': '2'}),
        ('cpu=0.5 ram=1.5G', {'cpu': '0.5', 'ram': '1.5G'}),
        ('ram=512', {'ram': '512'}),
        ('ram=0.3333333333333333G cpu=1000000000000000000',
         {'ram': '0.3333333333333333G', 'cpu': '1000000000000000000'}),
        ('ram=3G storage=2T', {'ram': '3G', 'storage': '2T'}),
        ('storage=1P\n ram=0.5M', {'storage': '1P', 'ram': '0.5M'}),
        ('cpu= ram= storage=', {'cpu': '', 'ram': '', 'storage': ''}),
        ('cpu=0 ram=0', {'cpu': '0', 'ram': '0'}),
        ('cpu=max ram=max', {'cpu': 'max', 'ram': 'max'}),
        ('rack=r1', {'rack': 'r1'}),
        ('rack=row\\ 7', {'rack': 'row 7'}),
        ('rack=a\\\\b', {'rack': 'a\\b'}),
        ('rack=a\\b', {'rack': 'a\\b'}),
        ('rack=a\\', {'rack': 'a\\'}),
        ('rack=a\\\\ cpu=1', {'rack': 'a\\', 'cpu': '1'}),
        ('fire\\ zone=2', {'fire zone': '2'}),
        ('note=a=b', {'note': 'a=b'}),
        ('classes=a,^b', {'classes': 'a,^b'}),
        ('classes=', {'classes': ''}),
        ('host=node-1', {'host': 'node-1'}),
        ('role=fast-network', {'role': 'fast-network'}),
        ('ec2-zone=a ec2-instance-type=m1.small',
         {'ec2-zone': 'a', 'ec2-instance-type': 'm1.small'}),
        ('orchestra-classes=,, ec2-region=',
         {'orchestra-classes': ',,', 'ec2-region': ''}),
        ('hardware_class=3 platform_version=2.10',
         {'hardware_class': '3', 'platform_version': '2.10'}))]

    def test(self):
        found = constraints.parse(self.written)
        self.assertEqual(self.expected, found)
        self.assertEqual(found, constraints.parse(constraints.text(found)))


class RefusedTest(testscenarios.WithScenarios, testtools.TestCase):

    scenarios = [(written, {'written': written, 'position': position,
                            'rule': rule})
                 for written, position, rule in (
        ('cpu', 1, 'KEY=VALUE'),
        ('=2', 1, 'KEY=VALUE'),
        ('ram=1G cpu', 8, 'KEY=VALUE'),
        ('ca/t=1', 1, 'KEY=VALUE'),
        ('..=1', 1, 'KEY=VALUE'),
        ('ram=1G  ram=2G', 9, 'only one of its key'),
        ('x=1 X=1', 5, 'only one of its key'),
        ('cpu=-1', 1, 'not negative'),
        ('cpu=inf', 1, 'not negative'),
        ('cpu=nan', 1, 'not negative'),
        ('cpu=1_000', 1, 'not negative'),
        ('cpu=1e3', 1, 'not negative'),
        ('cpu=2G', 1, 'not negative'),
        ('cpu=1.', 1, 'not negative'),
        ('cpu=+1', 1, 'not negative'),
        ('cpu=١', 1, 'not negative'),
        ('ram=1g', 1, '512M'),
        ('ram=1K', 1, '512M'),
        ('ram=M', 1, '512M'),
        ('ram=1GB', 1, '512M'),
        ('storage=-0.5G', 1, '512M'),
        ('storage=MAX', 1, '512M'),
        ('RAM=1G', 1, 'written ram='),
        ('classes=a,,b', 1, 'has a and has not b'),
        ('classes=a,^', 1, 'has a and has not b'),
        ('ram=1G hardware_class=good', 8, 'a number'),
        ('next_reboot=soon', 1, 'ISO 8601'),
        ('rack=\x07', 1, 'can be printed'),
        ('role=a.b', 1, 'the name of a role'),
        ('role=\U0001f600', 1, 'the name of a role'),
        (f'rack={256 * "r"}', 1, '255'))]

    def test(self):
        error = self.assertRaises(
            exception.InvalidConstraint, constraints.parse, self.written)
        self.assertEqual(self.position, error.details['position'])
        self.assertIn(self.rule, str(error))


class LimitsTest(testtools.TestCase):

    def test_limits(self):
        for written, position, rule in (
                (' '.join(f'a{number}=1' for number in range(101)), 591,
                 'one of at most 100'),
                ('a=1' + ' ' * 4096, 1, 'at most 4096')):
            error = self.assertRaises(
                exception.InvalidConstraint, constraints.parse, written)
            self.assertEqual(position, error.details['position'])
            self.assertIn(rule, str(error))


class ParsePropertyTest(testtools.TestCase):

    @hypothesis.given(LEVELS)
    def test_round_trip(self, level):
        level = folded({key: value for key, value in level.items()
                        if key in constraints.SIZES or value.strip()
                        == value})
        self.assertEqual(level, constraints.parse(constraints.text(level)))

    @hypothesis.given(st.text())
    def test_anything(self, written):
        """It is read, and read the same again, or refused."""
        try:
            found = constraints.parse(written)
        except exception.InvalidConstraint:
            return
        self.assertEqual(found, constraints.parse(constraints.text(found)))


class AttributesTest(testtools.TestCase):

    def test_names(self):
        self.assertEqual({'rack', 'Cpus'}, constraints.attribute_names(
            constraints.parse('cpu=1 ram=1G storage= host=a role=b rack=r1 '
                              'gpu= ec2-a=b Cpus=0')))

    def test_likely(self):
        for written, key in (
                ('mem', 'ram'), ('MEMORY', 'ram'), ('vcpus', 'cpu'),
                ('Disk', 'storage'), ('stroage', 'storage'),
                ('racks', 'rack'), ('platform-version', 'platform_version'),
                ('gpu_model', None), ('', None)):
            self.assertEqual(key, constraints.likely_key(written), written)


class EffectiveTest(testtools.TestCase):

    def test_of_the_seed(self):
        """The environment ec2-zone=a ram=1G, the service ram=2G."""
        found = constraints.effective(
            [('pcloud', {'ram': '2G'}),
             ('cloud', {'ec2-zone': 'a', 'ram': '1G'})], {})
        self.assertEqual(
            [('cpu', '1', 'built-in'), ('ec2-zone', 'a', 'cloud'),
             ('ram', '2G', 'pcloud'), ('storage', '4G', 'built-in')],
            [(each.key, each.value, each.source) for each in found.values()])

    def test_nothing_set(self):
        """Nobody who uses no constraints loses a host."""
        for levels in ([], [('request', {}), ('cloud', {})]):
            found = constraints.wanted(constraints.effective(levels, {}))
            self.assertEqual(({}, {}, None), (
                found.minimums, found.attributes, found.host))

    def test_anything_set(self):
        for each in ({'rack': 'r1'}, {'rack': ''}, {'cpu': ''},
                     {'ec2-zone': 'a'}):
            found = constraints.wanted(constraints.effective(
                [('request', {}), ('cloud', each)], {}))
            self.assertEqual({'cpu': 1, 'ram': 512, 'storage': 4096},
                             found.minimums)

    def test_empty_ends_the_fallback(self):
        found = constraints.effective(
            [('request', {'ram': '', 'rack': ''}),
             ('cloud', {'ram': '8G', 'rack': 'r1'})], {})
        self.assertEqual('512M', found['ram'].value)
        self.assertNotIn('rack', found)

    def test_roles(self):
        fast = {'rack': 'r3', 'ram': '9G', 'cpu': '3'}
        levels = [('request', {'ram': '1G'}),
                  ('pcloud', {'role': 'fast', 'cpu': '2'}),
                  ('cloud', {'rack': 'r1', 'role': 'slow'})]
        self.assertEqual('fast', constraints.role_of(levels))
        found = constraints.effective(levels, fast)
        self.assertEqual(
            {'cpu': '2', 'ram': '1G', 'rack': 'r3', 'role': 'fast',
             'storage': '4G'},
            {key: each.value for key, each in found.items()})
        self.assertEqual('role fast', found['rack'].source)
        ended = [('request', {'role': ''}), *levels]
        self.assertIsNone(constraints.role_of(ended))
        found = constraints.effective(ended, {})
        self.assertEqual('r1', found['rack'].value)
        self.assertNotIn('role', found)
        self.assertRaises(exception.RoleInRole, constraints.check_role,
                          {'role': 'other'})

    @hypothesis.given(st.lists(LEVELS, max_size=5))
    def test_each_key_falls_back_alone(self, levels):
        named = [(str(number), each) for number, each in enumerate(levels)]
        found = constraints.effective(named, {})
        for key in {key for each in levels for key in each}:
            lowest = next(number for number, each in enumerate(levels)
                          if key in each)
            value = levels[lowest][key]
            if value:
                self.assertEqual(
                    constraints.Setting(key, value, str(lowest)), found[key])
            else:
                self.assertEqual(
                    constraints.DEFAULTS.get(key),
                    found[key].value if key in found else None)
        if any(levels):
            self.assertLessEqual({'cpu', 'ram', 'storage'}, found.keys())
        else:
            self.assertEqual({}, found)


class UnmetTest(testtools.TestCase):

    def _unmet(self, written, *machines):
        return [sorted(each) for each in constraints.unmet(
            wanted(written), machines)]

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

    def test_host(self):
        self.assertEqual([[], ['host']], self._unmet(
            'host=a', machine(name='a'), machine(name='b')))


class LevelsTest(testtools.TestCase):
    """The turns of machines once greater machines are gone."""

    machines = st.lists(st.builds(
        machine, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3),
        rack=st.sampled_from(['', 'l', 'r'])), max_size=6)
    written = st.sampled_from([
        'ram=max', 'ram=max storage=0 cpu=2', 'cpu=max ram=max storage=0',
        'cpu=max ram=max storage=max', 'cpu=max ram=2M rack=l storage=0',
        'ram=1M storage=0'])

    @hypothesis.given(machines, written)
    def test_large_enough(self, machines, written):
        what = wanted(written)
        rest = dataclasses.replace(what, minimums={})
        there = [machine for machine, keys in zip(
            machines, constraints.unmet(rest, machines)) if not keys]
        found = constraints.large_enough(what, {
            size: [machine.sizes[size] for machine in there]
            for size in constraints.SIZES})
        self.assertEqual(
            [id(machine) for machine, keys in zip(
                machines, constraints.unmet(what, machines)) if not keys],
            [id(there[number]) for number in found])

    @hypothesis.given(machines, written)
    def test_machines_of_levels_before_are_gone(self, machines, written):
        what = wanted(written)
        levels = constraints.levels(what, machines)
        remaining = list(range(len(machines)))
        expected, level = [None] * len(machines), 0
        while passing := [
                number for number, keys in zip(remaining, constraints.unmet(
                    what, [machines[number] for number in remaining]))
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

        machines = [constraints.Machine(
            Sizes(cpu=4, ram=4096 + number, storage=100 * 1024), {}, ())
            for number in range(300)]
        levels = constraints.levels(wanted('ram=max cpu=max'), machines)
        self.assertEqual(list(range(299, -1, -1)), levels)
        self.assertLess(len(reads), 10 * len(machines))


class WasteTest(testtools.TestCase):

    def test_of_the_seed(self):
        """ram=3G, and machines of 4G and 6G."""
        what = wanted('ram=3G')
        small, large = machine(ram=4096), machine(ram=6144)
        wastes = [constraints.waste(what, each.sizes)
                  for each in (large, small)]
        self.assertEqual([3072, 1024], [each[1] for each in wastes])
        self.assertEqual([0.0, 1.0], constraints.waste_scores(wastes))

    def test_order(self):
        """Memory, then cpus, then storage."""
        what = wanted('ram=1G cpu=max storage=0')
        order = [machine(8, 2048, 1), machine(2, 2048, 2),
                 machine(1, 2049, 0)]
        wastes = [constraints.waste(what, each.sizes) for each in order]
        self.assertEqual(
            [(False, 1024, 0, 1), (False, 1024, 0, 2), (False, 1025, 0, 0)],
            wastes)
        self.assertEqual([1.0, 0.5, 0.0], constraints.waste_scores(wastes))
        self.assertEqual([1.0, 1.0], constraints.waste_scores(
            [(1,)] * 2))
        self.assertEqual([], constraints.waste_scores([]))

    def test_too_small(self):
        wastes = [constraints.waste(wanted('ram=3G'), each.sizes) for each in (
            machine(ram=1024), machine(ram=4096), machine(ram=8192))]
        self.assertEqual([0.0, 1.0, 0.5], constraints.waste_scores(wastes))
        self.assertEqual([True, False, False], [each[0] for each in wastes])

    def test_a_size_that_is_not_reported_wastes_most(self):
        wastes = [constraints.waste(wanted('ram=3G'), each.sizes) for each in (
            machine(ram=0), machine(ram=8192))]
        self.assertLess(wastes[1], wastes[0])


class HeldTest(testtools.TestCase):

    def test_held(self):
        now = datetime.datetime(2026, 12, 1, tzinfo=datetime.UTC)

        def held(name, *said):
            return attributes.all_values(name, [
                attributes.Statement(*each) for each in said], now)

        self.assertEqual({'a', 'b', 'c'}, held(
            'classes', ('a, b', False), ('c', False)))
        self.assertEqual({'a'}, held('classes', ('a', True), ('c', False)))
        self.assertEqual({'r1'}, held('rack', ('r2', True), ('r1', True)))
        self.assertEqual({3.0}, held('hardware_class', ('3', False)))
        self.assertEqual(frozenset(), held('rack'))
