# SPDX-License-Identifier: Apache-2.0

"""Cases of the source documents: what is put in, and what has to come out.

The expected values come from the documents and from arithmetic alone, and not
from the rules.
"""

import datetime
from fractions import Fraction

import ddt
from oslotest import base

from pcloud import exception
from pcloud.objects.placing import affinity_keys
from pcloud.rules.placing import affinity
from pcloud.rules.placing import attributes
from pcloud.rules.placing import colocation
from pcloud.rules.placing import constraints
from pcloud.rules.placing import locality
from pcloud.rules.placing import machines

NOW = datetime.datetime(2026, 11, 28, tzinfo=datetime.UTC)
WEEK = datetime.timedelta(days=7)


def _keys(text):
    return affinity.compiled([map(affinity.parse, text.split())])


def _offers(text):
    return [(name, Fraction(value)) for name, _, value in (
        pair.partition('=') for pair in text.split())]


@ddt.ddt
class WorkloadPlacementTest(base.BaseTestCase):
    """Dynamic Workload Placement and the Affinity Algorithm."""

    @ddt.data(
        # Identical values: proximity 1. A difference of 1 or more: 0.
        ('A=1:100', 'A=1', '100'), ('A=1:100', 'A=2', '0'),
        ('A=1:100', 'A=0', '0'), ('A=1:100', 'A=1.5', '50'),
        ('A=1:100', 'A=0.5', '50'), ('A=1:100', 'A=1.999', '0.1'),
        ('A=1:100', 'A=0.001', '0.1'), ('A=1:100', 'A=100', '0'),
        ('A=-1:100', 'A=-1', '100'), ('A=-0.5:10', 'A=0.25', '2.5'),
        # Weights may be negative, and are multiplied.
        ('A=1:-100', 'A=1', '-100'), ('A=1:-100', 'A=1.75', '-25'),
        ('A=1:-100', 'A=2', '0'), ('A=1:0.5', 'A=1.5', '0.25'),
        # Values are added, names on one side alone count nothing.
        ('A=1:10 B=1:5', 'A=1 B=1', '15'), ('A=1:10 B=1:5', 'A=1', '10'),
        ('A=1:10', 'A=1 B=1', '10'), ('A=1:10', '', '0'), ('', 'A=1', '0'),
        ('A=1:10 B=1:-10', 'A=1 B=1', '0'),
        # A name that several servers of a node have, with any values.
        ('A=1:10', 'A=1 A=1', '20'), ('A=1:10', 'A=1 A=2 A=1.5', '15'),
        ('A=1:-10', 'A=1 A=1 A=1', '-30'),
        # Contention is a key like others, with 0 as the target.
        ('#RAM=0:100', '#RAM=0.3', '70'), ('#RAM=0:100', '#RAM=1', '0'),
        ('#CPU=0:10 #LOAD=0:10', '#CPU=0.5 #LOAD=0.25', '12.5'),
        ('#RAM=1:100', '#RAM=0.9', '90'),
        # 0.1 + 0.2 is 0.3.
        ('A=1:0.1 B=1:0.2', 'A=1 B=1', '0.3'),
        # Names are exact.
        ('A=1:10', 'a=1', '0'), ('_A=1:10', '_A=1', '10'),
        ('_A=1:10', 'A=1', '0'))
    @ddt.unpack
    def test_scores(self, wanted, offered, score):
        self.assertEqual(Fraction(score), affinity.score(
            _keys(wanted), _offers(offered)))

    @ddt.data(
        # 80, 70, ... 0, -10: a score has to exceed the threshold.
        ('81', 0), ('80.001', 0), ('80', 1), ('70.5', 1), ('70', 2),
        ('0.5', 8), ('0', 9), ('-9.999', 9), ('-10', None), ('-11', None),
        ('1000', 0), ('10', 8), ('10.001', 7))
    @ddt.unpack
    def test_rounds(self, score, number):
        rounds = affinity.thresholds(Fraction(80), Fraction(-10), 10)
        self.assertEqual([*range(80, -20, -10)], rounds)
        self.assertEqual(number, affinity.round_of(Fraction(score), rounds))

    @ddt.data(
        (80, -10, 1, [80]), (80, -10, 2, [80, -10]),
        (80, -10, 4, [80, 50, 20, -10]), (5, 5, 3, [5, 5, 5]),
        (-10, 80, 2, [-10, 80]))
    @ddt.unpack
    def test_thresholds(self, first, last, steps, expected):
        self.assertEqual(expected, affinity.thresholds(
            Fraction(first), Fraction(last), steps))

    @ddt.data(
        # The document's: cluster 1, VDC 2, offer of the server 3.
        (('MYKEY=1:1', 'MYKEY=2:1', 'MYKEY=3:1'), 'MYKEY=3:1'),
        (('MYKEY=1:1', '', ''), 'MYKEY=1:1'),
        (('A=1:1', 'B=2:2'), 'A=1:1 B=2:2'),
        (('A=1:5', 'A=1:-5'), 'A=1:-5'),
        # A normal key is none: neither counts, nor hides.
        (('A=1:5', 'A=2:0'), 'A=1:5'), (('A=2:0',), ''),
        (('A=1:5', 'A=2:0', 'A=3:1'), 'A=3:1'),
        (('#RAM=0:10', '#RAM=0:-10'), '#RAM=0:-10'),
        (('A=1:1', 'a=2:2'), 'A=1:1 a=2:2'))
    @ddt.unpack
    def test_levels(self, levels, expected):
        self.assertEqual(_keys(expected), affinity.compiled(
            map(affinity.parse, level.split()) for level in levels))

    @ddt.data('A', 'A=', 'A=1', 'A=1:', 'A=:1', '=1:1', 'A=x:1', 'A=1:x',
              'A=1:1:1', 'A=1,5:1', '#FOO=1:1', '#ram=1:1', '__A=1:1',
              'A B=1:1', 'A=1e3:1', 'A=inf:1', 'A=nan:1', '-A=1:1',
              'special.ram=1:1', f'{"A" * 64}=1:1', 'A=1:1 ')
    def test_no_keys(self, text):
        self.assertRaises(exception.InvalidValue, affinity.parse, text)

    @ddt.data('A=1:1', '_A=1:1', '#RAM=0:5', 'special.LOAD=0:1', 'a.b-c_d=0:1',
              'A=-1.5:-2', 'A=+1:1', f'{"A" * 63}=1:1', 'A=0:0')
    def test_keys(self, text):
        self.assertIsInstance(affinity.parse(text), affinity.Key)

    @ddt.data(('_A=1:1', False, True), ('A=1:1', True, True),
              ('#RAM=0:1', True, False), ('special.CPU=0:1', True, False))
    @ddt.unpack
    def test_classes(self, text, may_be_system, may_be_customer):
        for right, check in ((may_be_system, affinity.check_system),
                             (may_be_customer, affinity.check_customer)):
            if right:
                check(affinity.parse(text))
            else:
                self.assertRaises(exception.InvalidValue, check,
                                  affinity.parse(text))

    @ddt.data(
        ((512, 1024), '0.5'), ((0, 1024), '0'), ((1024, 1024), '1'),
        ((2048, 1024), '1'), ((-1, 1024), '0'), ((1, 0), '0'))
    @ddt.unpack
    def test_contention(self, amounts, share):
        self.assertEqual(Fraction(share), affinity.share(
            *map(Fraction, amounts)))

    @ddt.data(
        # The earlier round first, whatever the customer score.
        ([(0, -100), (0, 0), (1, 300)], [1, 2, 0]),
        ([(3, 5), (3, 5), (3, 4)], [1, 1, 0]),
        ([(9, 1), (0, -1)], [0, 1]), ([(0, 0)], [0]))
    @ddt.unpack
    def test_order(self, standings, expected):
        self.assertEqual(expected, affinity.ranks([
            ((number,), Fraction(score)) for number, score in standings]))

    def test_keys_of_nodes(self):
        """Several values of a name, sticky weights, and wrong ones."""
        self.assertEqual(
            ({'A': 1, '_B': 2, 'C': 3}, {'A': 60}), affinity_keys.of_node([
                {'pcloud:key:A': '1', 'pcloud:sticky:A': '60'},
                {'pcloud:key:A': '4', 'pcloud:key:_B': '2'},
                {'pcloud:key:C': '3', 'pcloud:sticky:C': '0',
                 'pcloud:key:D': 'x', 'pcloud:key:special.RAM': '0'}]))


def _effective(*levels, role=''):
    names = constraints.REQUEST, 'pcloud', 'project', 'domain', 'cloud'
    return {key: setting.value for key, setting in constraints.effective(
        [(name, constraints.parse(level)) for name, level
         in zip(names, levels)], constraints.parse(role)).items()}


BUILT_IN = {'cpu': '1', 'ram': '512M', 'storage': '4G'}


@ddt.ddt
class MachinePlacementTest(base.BaseTestCase):
    """The machine placement spec."""

    @ddt.data(
        # Footnote 0.
        (('ram=2G', 'ec2-zone=a ram=1G'),
         {'ec2-zone': 'a', 'ram': '2G', 'storage': '4G', 'cpu': '1'}),
        ((), {}), (('', ''), {}),
        # An empty value is the default, whatever is above.
        (('ram=', 'ram=8G'), BUILT_IN), (('', 'ram=', 'ram=8G'), BUILT_IN),
        (('rack=', 'rack=r1'), BUILT_IN),
        (('cpu=4', '', 'ram=8G', 'rack=r1'),
         {'cpu': '4', 'ram': '8G', 'rack': 'r1', 'storage': '4G'}),
        (('ram=0', 'ram=8G'), {**BUILT_IN, 'ram': '0'}),
        (('cpu=max',), {**BUILT_IN, 'cpu': 'max'}))
    @ddt.unpack
    def test_fallback(self, levels, expected):
        self.assertEqual(expected, _effective(*levels))

    @ddt.data(
        # A role counts right after the level that names it.
        (('role=r',), 'ram=2G', '2G'), (('role=r ram=1G',), 'ram=2G', '1G'),
        (('role=r', 'ram=1G'), 'ram=2G', '2G'),
        (('ram=1G', 'role=r'), 'ram=2G', '1G'),
        (('role=', 'role=r ram=1G'), 'ram=2G', '1G'))
    @ddt.unpack
    def test_roles(self, levels, role, ram):
        self.assertEqual(ram, _effective(*levels, role=role)['ram'])

    @ddt.data(
        'ram', 'ram=1G ram=2G', 'ram=-1', 'cpu=1G', 'cpu=x', 'ram=1K',
        'ram=1 G', 'cpu=-0.5', 'ram=1g', 'RAM=1G', 'ram=1G Ram=1G',
        'ram=maximum', '=1', 'storage=1Q', 'cpu=1,5', 'rack=a,,b',
        'rack>=r1', 'cpu>=2', 'platform_version=new', 'next_reboot>=soon')
    def test_refused(self, written):
        self.assertRaises(exception.InvalidValue, constraints.parse, written)

    @ddt.data(
        ('cpu', '0', 0), ('cpu', '0.5', Fraction(1, 2)), ('cpu', '2', 2),
        ('ram', '512', 512), ('ram', '512M', 512), ('ram', '1.5G', 1536),
        ('ram', '1T', 1024 ** 2), ('ram', '1P', 1024 ** 3),
        ('storage', '0G', 0), ('storage', '4G', 4096))
    @ddt.unpack
    def test_amounts(self, key, value, expected):
        self.assertEqual(expected, constraints.amount(key, value))

    @ddt.data(
        # Machines of cpus and GiB; those that satisfy.
        ('ram=3G', '4,4 4,6 4,2', [0, 1]), ('ram=4G', '4,4', [0]),
        ('ram=4.001G', '4,4', []), ('cpu=4', '4,4 3,9', [0]),
        ('cpu=3.5', '3,9 4,9', [1]), ('cpu=0 ram=0', '1,1', [0]),
        # The greatest of all, and both only where one has both.
        ('cpu=max', '4,4 8,2 8,1', [1, 2]),
        ('cpu=max ram=max', '4,4 8,2', []),
        ('cpu=max ram=max', '4,4 8,4 8,2', [1]),
        ('cpu=max ram=3G', '4,4 8,2', [0]),
        ('rack=r1', '4,4', []), ('ec2-zone=a orchestra-name=x', '4,4', [0]))
    @ddt.unpack
    def test_machines(self, written, offered, expected):
        what = machines.wanted(constraints.effective(
            [(constraints.REQUEST, constraints.parse(written))], {}))
        offered = [machines.Machine(
            {'cpu': int(cpu), 'ram': int(ram) * 1024, 'storage': 10 ** 6},
            {}, ()) for cpu, ram in (
                pair.split(',') for pair in offered.split())]
        self.assertEqual(expected, [
            number for number, keys
            in enumerate(machines.unmet(what, offered)) if not keys])

    @ddt.data(('a,b', 'classes=a', True), ('a,b', 'classes=a,b', True),
              ('a,b', 'classes=a,c', False), ('a,b', 'classes=a,^c', True),
              ('a,b', 'classes=a,^b', False), ('', 'classes=^b', True),
              ('a, b', 'classes=b', True), ('a', 'classes=A', False))
    @ddt.unpack
    def test_classes(self, has, written, right):
        what = machines.wanted(constraints.effective(
            [(constraints.REQUEST, constraints.parse(written))], {}))
        values = attributes.all_values('classes', [
            attributes.Statement(has, True)] if has else [], NOW)
        unmet, = machines.unmet(what, [machines.Machine(
            {'cpu': 9, 'ram': 9999, 'storage': 9999}, {'classes': values},
            ())])
        self.assertEqual(right, not unmet)


@ddt.ddt
class DesignationTest(base.BaseTestCase):
    """RFD 24."""

    @ddt.data(
        (['20260101T000000Z', '20260103T000000Z', '20260102T000000Z'],
         [0.0, 1.0, 0.5]),
        (['20260101T000000Z', None], [1.0, 0.0]), ([None, None], [0.0, 0.0]),
        (['20260101T000000Z'] * 2, [1.0, 1.0]),
        # Versions are compared by number.
        (['1.9', '1.10', '1.8'], [0.5, 1.0, 0.0]),
        (['1.0', '1', '2'], [0.0, 0.0, 1.0]),
        (['20260101T000000Z', '20260102T000000Z', '7.1'], [0.0, 1.0, 0.0]),
        ([], []))
    @ddt.unpack
    def test_platforms(self, versions, scores):
        self.assertEqual(scores, attributes.platform_scores([
            version and attributes.platform(version)
            for version in versions]))

    @ddt.data(
        # Days from now: within a week of each other they are alike.
        ([10, 10], [1.0, 1.0]), ([None, None], [1.0, 1.0]),
        ([1, 20], [0.0, 1.0]), ([1, 6, 20], [0.0, 0.0, 1.0]),
        ([20, 14, 13], [1.0, 1.0, 0.0]), ([1, None], [0.0, 1.0]),
        # A date that has passed is none.
        ([-1, 5], [1.0, 0.0]), ([-1, None], [1.0, 1.0]), ([0, 5], [1.0, 0.0]),
        ([1, 10, 30, None], [0.0, 1 / 3, 2 / 3, 1.0]),
        ([1, 10, 36500], [0.0, 0.5, 1.0]), ([], []))
    @ddt.unpack
    def test_reboots(self, days, scores):
        self.assertEqual(scores, attributes.reboot_scores([
            None if day is None else NOW + datetime.timedelta(days=day)
            for day in days], NOW, WEEK))

    @ddt.data(
        ([1.0, 3.0, 2.0], [0.0, 1.0, 0.5]), ([2.0, 2.0], [1.0, 1.0]),
        ([None, 5.0], [0.0, 1.0]), ([None], [0.0]),
        ([-1.0, 0.0, 1.0], [0.0, 0.5, 1.0]))
    @ddt.unpack
    def test_hardware(self, classes, scores):
        self.assertEqual(scores, attributes.hardware_scores(classes))

    @ddt.data(
        # Hosts a and b in rack r, c in rack s, d in none.
        ('near', 'a', False, 'a'), ('near', 'a c', False, 'a c'),
        ('near', 'a c', True, ''), ('near', 'a a', True, 'a'),
        ('near', 'a b', True, 'a b'), ('near', 'x', False, 'c'),
        ('near', 'y', False, 'a b c d'), ('near', 'y', True, ''),
        ('far', 'a', False, 'c d'), ('far', 'a c', False, 'd'),
        ('far', 'a c d', False, 'b'), ('far', 'a b c', False, 'd'),
        ('far', 'a b c d', True, ''), ('far', 'x', False, 'a b d'),
        ('far', 'a', True, 'c d'))
    @ddt.unpack
    def test_locality(self, hint, servers, strict, kept):
        racks = {'a': 'r', 'b': 'r', 'c': 's', 'd': None, 'x': 's', 'y': None}
        near, far = ((servers.split(), []) if hint == 'near'
                     else ([], servers.split()))
        self.assertEqual(kept.split(), locality.passing_hosts(
            [*'abcd'], racks, near, far, strict))


@ddt.ddt
class CoLocatedTest(base.BaseTestCase):
    """Co-located services."""

    @ddt.data(
        (None, None, 'never'), (None, 'allow', 'allow'),
        (None, 'always', 'always'), ('allow', 'never', 'allow'),
        ('never', 'always', 'never'), (None, 'Allow', 'never'),
        ('', 'allow', 'never'), (None, 'yes', 'never'))
    @ddt.unpack
    def test_flags(self, flavor, image, flag):
        self.assertEqual(flag, colocation.flag(flavor, image))

    @ddt.data(
        ('allow', {}, True), ('allow', {'in': 'db'}, True),
        ('always', {}, False), ('always', {'in': 'db'}, True),
        ('always', {'with': 'db'}, True), ('never', {}, True),
        ('never', {'in': 'db'}, False), ('never', {'with': 'db'}, False),
        ('never', {'service': 'db'}, True),
        ('always', {'service': 'x'}, False))
    @ddt.unpack
    def test_permissions(self, flag, hints, right):
        wish = colocation.wish(hints)
        if right:
            colocation.check(wish, flag)
        else:
            self.assertRaises(exception.Invalid, colocation.check, wish, flag)
