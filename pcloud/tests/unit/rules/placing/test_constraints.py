# SPDX-License-Identifier: Apache-2.0

import datetime

import hypothesis
from hypothesis import strategies as st
import testscenarios
import testtools

from pcloud import exception
from pcloud.rules.placing import attributes
from pcloud.rules.placing import constraints
from pcloud.rules.placing import machines
from pcloud import text

_KEYS = st.sampled_from(['cpu', 'ram', 'storage'])
_AMOUNTS = st.one_of(
    st.just(''), st.just('max'), st.just('0'),
    st.from_regex(r'[0-9]{1,6}(\.[0-9]{1,4})?', fullmatch=True))
_OF_PLACEMENT = st.from_regex('resource:[A-Z0-9_]{1,9}', fullmatch=True)
_TRAITS = st.from_regex('trait:[A-Z0-9_]{1,9}', fullmatch=True)
_NAMES = st.from_regex(r'x[A-Za-z0-9._-]{0,9}', fullmatch=True)
_VALUES = st.text(st.characters(
    codec='utf-8', categories=['L', 'N', 'P', 'S', 'Zs'],
    exclude_characters=',^'), max_size=12).filter(str.isprintable)
LEVELS = (
    st.dictionaries(_KEYS, _AMOUNTS) | st.dictionaries(_NAMES, _VALUES) |
    st.dictionaries(_OF_PLACEMENT, st.from_regex(
        '[0-9]{0,4}', fullmatch=True)) |
    st.dictionaries(_TRAITS, st.sampled_from(
        ['', 'required', 'forbidden'])) |
    st.dictionaries(st.just('hardware_class>'), st.sampled_from(
        ['', '3', '-1.5'])))


def folded(levels):
    """Leave out what differs in letter case only."""
    return {key: value for key, value in levels.items()
            if [each.casefold() for each in levels].count(
                key.casefold()) == 1}


def wanted(written):
    return machines.wanted(constraints.effective(
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
        ('resource:CUSTOM_FPGA=2 resource:VGPU=0 resource:PCPU=',
         {'resource:CUSTOM_FPGA': '2', 'resource:VGPU': '0',
          'resource:PCPU': ''}),
        ('trait:HW_CPU_X86_AVX=required trait:CUSTOM_OLD=forbidden trait:A=',
         {'trait:HW_CPU_X86_AVX': 'required', 'trait:CUSTOM_OLD': 'forbidden',
          'trait:A': ''}),
        ('platform_version>=20260101T000000Z platform_version=2.1',
         {'platform_version>': '20260101T000000Z',
          'platform_version': '2.1'}),
        ('next_reboot>=2027-01-01 hardware_class>= ec2-x>=1',
         {'next_reboot>': '2027-01-01', 'hardware_class>': '',
          'ec2-x>': '1'}),
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
        ('hardware_class>=3 hardware_class>=', 19, 'only one of its key'),
        ('resource:VGPU=-1', 1, 'a whole number from 0'),
        ('resource:VGPU=1.5', 1, 'a whole number from 0'),
        ('resource:VGPU=1G', 1, 'a whole number from 0'),
        ('resource:VGPU=max', 1, 'max is for cpu, ram and storage alone'),
        ('resource:vgpu=1', 1, 'such as resource:CUSTOM_FPGA=1'),
        ('resource:=1', 1, 'such as resource:CUSTOM_FPGA=1'),
        ('resource:A:B=1', 1, 'such as resource:CUSTOM_FPGA=1'),
        (f'resource:{201 * "A"}=1', 1, '1 to 200 capital letters'),
        ('Resource:VGPU=1', 1, 'written resource:'),
        ('resources:VGPU=1', 1, 'resource:CLASS=N'),
        ('ram=1G resource:VGPU>=1', 8, 'such as resource:CUSTOM_FPGA=1'),
        ('trait:A=1', 1, 'trait:A=required or trait:A=forbidden'),
        ('trait:A=max', 1, 'trait:A=required or trait:A=forbidden'),
        ('trait:a=required', 1, 'such as trait:HW_CPU_X86_AVX=required'),
        ('TRAIT:A=required', 1, 'written trait:'),
        ('rack>=r1', 1, 'written rack=, for its values are texts'),
        ('gpu>=4', 1, '>= is for platform_version, next_reboot, hardware'),
        ('host>=a', 1, 'written host='),
        ('cpu>=4', 1, 'written cpu=, which is a minimum'),
        ('Hardware_class>=4', 1, '>= is for platform_version'),
        ('hardware_class>=max', 1, 'max is for cpu, ram and storage alone'),
        ('hardware_class>=good', 1, 'a number'),
        ('hardware_class>=1,2', 1, 'a number'),
        ('platform_version>=new', 1, 'a stamp such as'),
        ('hardware_class>4', 1, 'ATTRIBUTE>=VALUE'),
        ('hardware_class>>=4', 1, 'ATTRIBUTE>=VALUE'),
        ('rack=\x07', 1, 'can be printed'),
        ('role=a.b', 1, 'the name of a role'),
        ('role=\U0001f600', 1, 'the name of a role'),
        (f'rack={256 * "r"}', 1, '255'))]

    def test(self):
        error = self.assertRaises(
            exception.InvalidValue, constraints.parse, self.written)
        pair = self.written[self.position - 1:].split()[0]
        self.assertIn(f'at character {self.position}: '
                      f"'{text.shown(pair[:100])}", str(error))
        self.assertIn(self.rule, str(error))


class LimitsTest(testtools.TestCase):

    def test_limits(self):
        for written, position, rule in (
                (' '.join(f'a{number}=1' for number in range(101)), 591,
                 'one of at most 100'),
                ('a=1' + ' ' * 4094, 1, 'at most 4096')):
            error = self.assertRaises(
                exception.InvalidValue, constraints.parse, written)
            self.assertIn(f'at character {position}: ', str(error))
            self.assertIn(rule, str(error))
        self.assertIn(f"'a=1{37 * ' '}...'", str(error))

    def test_the_longest_text_and_the_most_pairs(self):
        self.assertEqual({'a': '1'}, constraints.parse('a=1' + ' ' * 4093))
        self.assertEqual(100, len(constraints.parse(
            ' '.join(f'a{number}=1' for number in range(100)))))
        for number, reads in ((255, True), (256, False)):
            self.assertIs(reads, bool(constraints.readable(
                [('rack', number * 'r')])))

    def test_readable(self):
        """What cannot be read is left out, and all others stay."""
        self.assertEqual({'rack': 'r1', 'cpu': '2', 'zone': 'a b'},
                         constraints.readable([
                             ('rack', 'r1'), ('RACK', 'r2'), ('x', 'a\nb'),
                             ('ram', 'much'), ('cpu', '2'),
                             ('zone', 'a b'), ('host>', 'a')]))


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
        except exception.InvalidValue:
            return
        self.assertEqual(found, constraints.parse(constraints.text(found)))


class StoredTest(testtools.TestCase):

    @hypothesis.given(LEVELS)
    def test_round_trip(self, level):
        """Keys of metadata have neither a sign of order nor a twin."""
        stored = {constraints.stored_key(key): key for key in level}
        self.assertEqual(len(level), len(stored))
        for form, key in stored.items():
            self.assertRegex(form, r'^[a-zA-Z0-9-_:. ]*$')
            self.assertEqual(key, constraints.key_of_stored(form))

    def test_forms(self):
        for key, form in (('platform_version>', 'least:platform_version'),
                          ('resource:VGPU', 'resource:VGPU'),
                          ('trait:A', 'trait:A'), ('rack', 'rack')):
            self.assertEqual(form, constraints.stored_key(key))

    def test_refused(self):
        for form, value in (('least:rack', 'r1'), ('least:', '1'),
                            ('least:cpu', '1'), ('other:A', '1'),
                            ('hardware_class>', '1\n'),
                            ('least:least:hardware_class', '1'),
                            ('resource:VGPU', 'max'), ('rack', 'r\t1')):
            error = self.assertRaises(
                exception.InvalidValue, constraints.check_stored, form, value)
            self.assertIn('Constraint at character ', str(error))
            self.assertIn(f'={value.split()[0]}', str(error))
            self.assertNotIn('None', str(error))
        constraints.check_stored('least:hardware_class', '1')


class AttributesTest(testtools.TestCase):

    def test_names(self):
        self.assertEqual(
            {'rack': 'rack', 'Cpus': 'Cpus',
             'hardware_class>': 'hardware_class'},
            constraints.attribute_names(constraints.parse(
                'cpu=1 ram=1G storage= host=a role=b rack=r1 gpu= ec2-a=b '
                'Cpus=0 hardware_class>=1 platform_version>= trait:A=required '
                'resource:VGPU=1')))

    def test_labels(self):
        self.assertEqual(
            ['hardware_class>=', 'rack', 'ec2-x>'],
            [constraints.label(key)
             for key in ('hardware_class>', 'rack', 'ec2-x>')])

    def test_likely(self):
        for written, key in (
                ('mem', 'ram'), ('MEMORY', 'ram'), ('vcpus', 'cpu'),
                ('Disk', 'storage'), ('stroage', 'storage'),
                ('racks', 'rack'), ('platform-version', 'platform_version'),
                ('cpu', None), ('rack', None), ('hardware', None),
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
            found = machines.wanted(constraints.effective(levels, {}))
            self.assertEqual(({}, {}, None), (
                found.minimums, found.attributes, found.host))

    def test_anything_set(self):
        for each in ({'rack': 'r1'}, {'rack': ''}, {'cpu': ''},
                     {'ec2-zone': 'a'}):
            found = machines.wanted(constraints.effective(
                [('request', {}), ('cloud', each)], {}))
            self.assertEqual({'cpu': 1, 'ram': 512, 'storage': 4096},
                             found.minimums)

    def test_values_and_a_minimum_are_constraints_of_their_own(self):
        found = constraints.effective(
            [('request', {'hardware_class>': '2'}),
             ('cloud', {'hardware_class': '^3', 'hardware_class>': '9'})], {})
        self.assertEqual({'hardware_class': '^3', 'hardware_class>': '2'}, {
            key: found[key].value for key in found.keys() - {
                'cpu', 'ram', 'storage'}})
        self.assertEqual('hardware_class>=2', str(found['hardware_class>']))

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
        self.assertRaisesRegex(
            exception.Invalid, 'cannot have role=', constraints.check_role,
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
