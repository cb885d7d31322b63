# SPDX-License-Identifier: Apache-2.0

"""The affinity algorithm, against numbers that were computed by hand."""

from fractions import Fraction

import ddt
from hypothesis import given
from hypothesis import strategies as st
from oslotest import base

from pcloud import exception
from pcloud.rules.placing import affinity

DEFAULT = affinity.thresholds(Fraction(80), Fraction(-10), 10)

numbers = st.decimals(-1000, 1000, places=3).map(lambda each: f'{each:f}')
names = st.sampled_from(['A', 'B', '_C', '#RAM'])
keys = st.builds('{}={}:{}'.format, names, numbers,
                 numbers.filter(lambda each: Fraction(each))
                 ).map(affinity.parse)
offers = st.lists(st.tuples(names, numbers.map(Fraction)), max_size=6)


def _keys(text):
    return affinity.compiled([map(affinity.parse, text.split())])


def _offered(text):
    return [(name, Fraction(value)) for name, value in
            (each.split('=') for each in text.split())]


@ddt.ddt
class ParseTest(base.BaseTestCase):

    @ddt.data('A=1:100', 'Repel1=1:-100', '_zone=-0.5:0.25', '#RAM=0:-100',
              'a.b-c_d=0:1', 'x=0.001:1000000')
    def test_as_it_is_written(self, text):
        self.assertEqual(text, str(affinity.parse(text)))

    @ddt.data(('special.RAM=0:5', '#RAM=0:5'), ('A=+1.50:2.0', 'A=1.5:2'),
              ('A=01:1', 'A=1:1'), ('A=-0:1', 'A=0:1'), ('A=1:-0.0', 'A=1:0'))
    @ddt.unpack
    def test_other_ways_to_say_it(self, text, expected):
        self.assertEqual(expected, str(affinity.parse(text)))

    @ddt.data('', 'A', 'A=1', 'A=1:', 'A=:1', '=1:1',
              'A=1:2:3', 'A=x:1', 'A=1:x', 'A=nan:1', 'A=inf:1', 'A=1e3:1',
              'A=1,5:1', 'A =1:1', 'A= 1:1', '#DISK=0:1', 'special.x=0:1',
              '##RAM=0:1', '_=1:1', '-a=1:1', 'A' * 65 + '=1:1', 'ä=1:1',
              'A=١:1', 'A=1:1\n', 'A=1/2:1')
    def test_refused(self, text):
        error = self.assertRaises(
            exception.InvalidValue, affinity.parse, text)
        self.assertIn('Placement key: ', str(error))
        self.assertIn('has to be ', str(error))
        # The key, or the part of the key that is not right.
        self.assertIn(error.details['value'], text)
        self.assertNotIn('None', str(error))

    def test_who_may_set_what(self):
        for text, check in (('_zone=1:1', affinity.check_system),
                            ('#RAM=1:1', affinity.check_customer)):
            self.assertRaisesRegex(
                exception.InvalidValue,
                f"Placement key: '{text}' is not right; it has to be a "
                '(customer|system) key', check, affinity.parse(text))
        for text, check in (('_zone=1:1', affinity.check_customer),
                            ('#RAM=1:1', affinity.check_system),
                            ('A=1:1', affinity.check_customer),
                            ('A=1:1', affinity.check_system)):
            found = affinity.parse(text)
            self.assertEqual(found, check(found))

    def test_distinct(self):
        texts = ['B=1:1', 'A=2:-3', '_zone=1:1']
        self.assertEqual(
            [affinity.parse(text) for text in texts],
            affinity.distinct(texts, affinity.check_customer))
        for more, expected in (
                ('a=1:1', 'the only one of its name'),
                ('A=2:-3', 'the only one of its name'),
                ('#RAM=1:1', 'a system key')):
            self.assertRaisesRegex(
                exception.InvalidValue,
                f"Placement key: '{more}' is not right; it has to be "
                f'{expected}', affinity.distinct, [*texts, more],
                affinity.check_customer)

    def test_words_of_computed_keys(self):
        self.assertEqual(
            ['RAM contention', 'CPU contention', 'load', 'RAM'], [
                affinity.in_words(name)
                for name in ('#RAM', '#CPU', '#LOAD', 'RAM')])

    @given(keys)
    def test_reads_what_it_writes(self, key):
        self.assertEqual(key, affinity.parse(str(key)))


@ddt.ddt
class CompileTest(base.BaseTestCase):
    """Step 2: "the value at the lowest level ... takes precedence"."""

    @ddt.data(
        # The text's own example: cluster, VDC, product offer of the server.
        (['MYKEY=1:5', 'MYKEY=2:5', 'MYKEY=3:5'], 'MYKEY=3:5'),
        # Value and weight go together.
        (['A=1:100', 'A=0:-1'], 'A=0:-1'),
        (['A=1:1', '', 'B=2:2', ''], 'A=1:1 B=2:2'),
        (['A=1:1 B=1:1', 'B=2:9', 'A=3:3'], 'A=3:3 B=2:9'),
        (['#RAM=0:10', '#RAM=1:10'], '#RAM=1:10'),
        # A normal key is no placement key, and hides none.
        (['A=1:5', 'A=2:0'], 'A=1:5'), (['A=1:0', 'A=2:5'], 'A=2:5'),
        (['A=1:0', 'B=1:0 C=1:0'], ''),
        ([], ''), (['', ''], ''))
    @ddt.unpack
    def test_levels(self, levels, expected):
        self.assertEqual(_keys(expected), affinity.compiled(
            [list(map(affinity.parse, level.split())) for level in levels]))


def _proximity(one, other):
    """What a key of weight 1 is worth."""
    return affinity.score(
        {'A': affinity.Key('A', one, Fraction(1))}, [('A', other)])


@ddt.ddt
class ProximityTest(base.BaseTestCase):
    """Step 4: 1.0 less the difference, 0 from a difference of 1.0 on."""

    @ddt.data(
        ('1', '1', '1'), ('1', '0', '0'), ('0', '1', '0'),
        ('1', '1.25', '0.75'), ('1', '0.75', '0.75'), ('0', '-0.5', '0.5'),
        ('2', '3', '0'), ('2', '10', '0'), ('0.1', '0.3', '0.8'),
        ('1.5', '1', '0.5'), ('-1', '-1', '1'), ('7', '7.999', '0.001'))
    @ddt.unpack
    def test_by_hand(self, one, other, expected):
        self.assertEqual(Fraction(expected), _proximity(
            Fraction(one), Fraction(other)))

    @given(numbers.map(Fraction), numbers.map(Fraction))
    def test_bounds_and_symmetry(self, one, other):
        found = _proximity(one, other)
        self.assertTrue(0 <= found <= 1)
        self.assertEqual(found, _proximity(other, one))
        self.assertEqual(found == 1, one == other)


@ddt.ddt
class ScoreTest(base.BaseTestCase):
    """Steps 3 to 5: proximity times weight, summed."""

    @ddt.data(
        # Keep together, keep apart.
        ('Group1=1:100', 'Group1=1', '100'),
        ('Group1=1:100', 'Group1=1 Group1=1', '200'),
        ('Group1=1:100', 'Group1=1.5', '50'),
        ('Repel1=1:-100', 'Repel1=1', '-100'),
        ('Repel1=1:-100', 'Repel1=1 Repel1=1 Repel1=1', '-300'),
        # "both will be present in the compiled list"
        ('MYKEY=1:10', 'MYKEY=1 MYKEY=1.2 MYKEY=3', '18'),
        ('MYKEY=3:10', 'MYKEY=1', '0'),
        ('A=1:10 B=2:5', 'A=1 B=2', '15'),
        ('A=1:10 B=2:-5', 'A=1 B=2.5', '7.5'),
        ('A=1:10', 'B=1', '0'), ('', 'A=1', '0'), ('A=1:10', '', '0'),
        # Premium nodes: 0 on the cloud, 1 on the nodes and the offers.
        ('premium=0:100', 'premium=1', '0'),
        ('premium=0:100', 'premium=0', '100'),
        ('premium=1:100', 'premium=1', '100'),
        # Spread by memory, pack by memory.
        ('#RAM=0:100', '#RAM=0.25', '75'),
        ('#RAM=0:-100', '#RAM=0.25', '-75'),
        ('#RAM=1:100', '#RAM=0.25', '25'),
        ('#CPU=0:20 #LOAD=0:10', '#CPU=0.5 #LOAD=0.1', '19'),
        # Exact where floating point is not.
        ('A=1:0.1 B=1:0.2', 'A=1 B=1', '0.3'),
        ('A=0:33.3', 'A=0.5', '16.65'), ('T=-1:4', 'T=-1.75', '1'),
        ('_zone=3:7', '_zone=3', '7'), ('A=1:-50', 'A=1.9', '-5'))
    @ddt.unpack
    def test_by_hand(self, wanted, offered, expected):
        self.assertEqual(Fraction(expected), affinity.score(
            _keys(wanted), _offered(offered)))

    @given(st.lists(keys, max_size=4), offers, offers)
    def test_every_offer_counts_for_itself(self, wanted, some, others):
        wanted = affinity.compiled([wanted])
        self.assertEqual(
            affinity.score(wanted, some + others),
            affinity.score(wanted, some) + affinity.score(wanted, others))

    @given(st.lists(keys, max_size=4), offers, st.randoms())
    def test_order_does_not_matter(self, wanted, offered, chance):
        wanted = affinity.compiled([wanted])
        before = affinity.score(wanted, offered)
        chance.shuffle(offered)
        self.assertEqual(before, affinity.score(wanted, offered))


class ShareScoresTest(base.BaseTestCase):

    @given(st.lists(st.tuples(
        st.fractions(-2, 3, max_denominator=20), st.sampled_from([-7, 3])),
        max_size=3), st.fractions(0, 1, max_denominator=20))
    def test_each_share_is_within_and_the_ends_are_reached(
            self, drawn, share):
        wanted = {str(number): affinity.Key(str(number), *map(Fraction, pair))
                  for number, pair in enumerate(drawn)}
        least, most = affinity.share_scores(wanted, wanted)
        score = affinity.score(wanted, dict.fromkeys(wanted, share).items())
        self.assertTrue(least <= score <= most)
        ends = [
            [affinity.score(wanted, [(key.name, end)]) for end in (
                Fraction(0), Fraction(1),
                min(Fraction(1), max(Fraction(0), key.value)))]
            for key in wanted.values()]
        self.assertEqual((sum(map(min, ends)), sum(map(max, ends))),
                         (least, most))


@ddt.ddt
class RoundTest(base.BaseTestCase):
    """Step 4: from INITIAL_MSAV to FINAL_MSAV in MSAV_STEPS."""

    @ddt.data(
        ('80', '-10', 10, '80 70 60 50 40 30 20 10 0 -10'),
        ('80', '-10', 4, '80 50 20 -10'), ('10', '0', 2, '10 0'),
        ('1', '0', 4, '1 2/3 1/3 0'), ('5', '5', 3, '5 5 5'),
        ('80', '-10', 1, '80'))
    @ddt.unpack
    def test_thresholds(self, initial, final, steps, expected):
        self.assertEqual(
            [Fraction(each) for each in expected.split()],
            affinity.thresholds(Fraction(initial), Fraction(final), steps))

    @ddt.data(
        ('100', 0), ('80.001', 0), ('80', 1), ('75', 1), ('70', 2),
        ('10.5', 7), ('10', 8), ('0.5', 8), ('0', 9), ('-9.99', 9),
        ('-10', None), ('-300', None))
    @ddt.unpack
    def test_first_that_is_exceeded(self, score, expected):
        self.assertEqual(expected, affinity.round_of(
            Fraction(score), DEFAULT))

    @given(numbers.map(Fraction), numbers.map(Fraction))
    def test_a_higher_score_is_never_later(self, one, other):
        rounds = [affinity.round_of(each, DEFAULT) for each in
                  sorted((one, other), reverse=True)]
        last = len(DEFAULT)
        self.assertEqual(rounds, sorted(
            rounds, key=lambda each: last if each is None else each))


@ddt.ddt
class RankTest(base.BaseTestCase):
    """Step 5: within a round "the node with the highest score"."""

    @ddt.data(
        ([], []), ([(0, '5')], [0]),
        ([(0, '-300'), (1, '300')], [1, 0]),
        ([(9, '100'), (9, '200'), (9, '100')], [0, 1, 0]),
        ([(2, '0'), (0, '0'), (1, '7'), (1, '8')], [0, 3, 1, 2]),
        ([(3, '0.3'), (3, '3/10')], [0, 0]))
    @ddt.unpack
    def test_by_hand(self, standings, expected):
        self.assertEqual(expected, affinity.ranks(
            [((number,), Fraction(score)) for number, score in standings]))

    def test_what_counts_before_rounds(self):
        nothing = Fraction(0)
        self.assertEqual([2, 0, 1, 2], affinity.ranks([
            ((0, 9), nothing), ((1, 0), Fraction(7)), ((0, 10), nothing),
            ((0, 9), nothing)]))


@ddt.ddt
class ShareTest(base.BaseTestCase):
    """Step 3: allocated, divided by physical times the contention ratio."""

    @ddt.data(
        # 64 GB given out of 64 GB with ratio 2; 12 cpus of 8 with ratio 4.
        ('64', '128', '1/2'), ('12', '32', '3/8'), ('0', '32', '0'),
        ('40', '32', '1'), ('1', '0', '0'), ('0', '0', '0'),
        ('-1', '32', '0'))
    @ddt.unpack
    def test_by_hand(self, used, total, expected):
        self.assertEqual(Fraction(expected), affinity.share(
            Fraction(used), Fraction(total)))


@ddt.ddt
class EstimateTest(base.BaseTestCase):
    """Estimates are as near as told, and tell where they do not decide."""

    @ddt.data((64, 128, 0.5), (0, 32, 0.0), (32, 32, 1.0), (40, 32, 1.0),
              (1, 0, 0.0), (0, 0, 0.0), (-1, 32, 0.0), (5, -1, 0.0),
              (1, 0.5, 1.0), (0.25, 1, 0.25))
    @ddt.unpack
    def test_share(self, used, total, expected):
        self.assertEqual(expected, affinity.estimated_share(used, total))

    @ddt.data(
        ('80 70 60', [100, 80.1, 80, 75, 60.1, 60, 0],
         [0, 0, affinity.UNCERTAIN, 1, 2, affinity.UNCERTAIN, None]),
        # The first round of those whose thresholds are exceeded.
        ('10 30 20', [35, 25, 15, 5], [0, 0, 0, None]),
        ('30 10 20', [35, 25, 15, 5], [0, 1, 1, None]),
        ('-5', [-4, -6], [0, None]))
    @ddt.unpack
    def test_rounds(self, rounds, scores, expected):
        rounds = [Fraction(each) for each in rounds.split()]
        self.assertEqual(expected, affinity.estimated_rounds(
            scores, 0.0, rounds))
        for score, found in zip(scores, expected):
            if found != affinity.UNCERTAIN:
                self.assertEqual(
                    affinity.round_of(Fraction(score), rounds), found)

    def test_rounds_within_the_error(self):
        rounds = [Fraction(80), Fraction(70)]
        self.assertEqual(
            [0, affinity.UNCERTAIN, affinity.UNCERTAIN, 1],
            affinity.estimated_rounds(
                [80.2, 80.05, 79.95, 79.8], 0.1, rounds))
        # A threshold is an estimate, too.
        self.assertEqual(
            [affinity.UNCERTAIN] * 2, affinity.estimated_rounds(
                [80 + 1e-11, 80 - 1e-11], 0.0, rounds))

    def test_scores(self):
        scores, error = affinity.estimated_scores(
            _keys('A=1:10 B=0:-4'), [Fraction(0), Fraction(-7)], [0, 1, 1, 0],
            {'A': [1.0, 0.5, 0.0, 0.25], 'B': [0.0, 1.0, 0.25, 0.5]})
        self.assertEqual([6.0, -2.0, -10.0, 0.5], scores)
        self.assertAlmostEqual(21e-12, error, 20)
        self.assertEqual(([], 0.0), affinity.estimated_scores({}, [], [], {}))
