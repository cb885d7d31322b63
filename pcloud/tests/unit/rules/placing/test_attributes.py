# SPDX-License-Identifier: Apache-2.0

"""Host attributes: values, which of several counts, and scores."""

import datetime
import time

import ddt
import fixtures
from hypothesis import given
from hypothesis import strategies as st
from oslotest import base

from pcloud import exception
from pcloud.rules.placing import attributes

NOW = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.UTC)
WEEK = datetime.timedelta(days=7)
DAY = datetime.timedelta(days=1)

moments = st.datetimes(
    min_value=datetime.datetime(2000, 1, 1),
    max_value=datetime.datetime(2100, 1, 1),
    timezones=st.just(datetime.UTC))
stamps = st.builds(
    lambda moment: attributes.platform(moment.strftime('%Y%m%dT%H%M%SZ')),
    moments)
versions = st.builds(
    lambda numbers: attributes.platform('.'.join(map(str, numbers))),
    st.lists(st.integers(0, 99), min_size=1, max_size=4))


@ddt.ddt
class NamesTest(base.BaseTestCase):

    # The table of `attributes.right_spelling`.
    @ddt.data(
        ('gpu', (), 'gpu'), ('gpu', ('gpu', 'gpus'), 'gpu'),
        ('rack', (), 'rack'), ('rack', ('Rack',), 'rack'),
        ('RACK', (), 'rack'), ('Rack', ('Rack',), 'rack'),
        ('GPU', ('gpu', 'GPU'), 'GPU'), ('GPU', ('Gpu', 'gpu'), 'Gpu'))
    @ddt.unpack
    def test_right_spelling(self, name, there, right):
        self.assertEqual(right, attributes.right_spelling(name, there))


@ddt.ddt
class ValuesTest(base.BaseTestCase):

    @ddt.data(
        ('platform_version', '20261231T235959Z'),
        ('platform_version', '2.10.1'), ('platform_version', '7'),
        ('next_reboot', '2026-12-31T23:59:59Z'),
        ('next_reboot', '2026-12-31T23:59:59+02:00'),
        ('next_reboot', '2026-12-31'), ('hardware_class', '2.5'),
        ('hardware_class', '-1'), ('rack', 'r 1'), ('ssd', 'yes,no'))
    @ddt.unpack
    def test_good(self, name, value):
        attributes.read(name, value)

    @ddt.data(
        ('platform_version', '20261331T235959Z'),
        ('platform_version', '20261231T235959'),
        ('platform_version', 'v2'), ('platform_version', '2.'),
        ('platform_version', ''), ('platform_version', '2..1'),
        ('next_reboot', 'tomorrow'), ('next_reboot', ''),
        ('next_reboot', '2026-13-01'), ('hardware_class', 'inf'),
        ('hardware_class', 'nan'), ('hardware_class', '1_000'),
        ('hardware_class', '1e3'), ('hardware_class', ''),
        ('hardware_class', '٣'), ('rack', ' '), ('rack', ''))
    @ddt.unpack
    def test_bad(self, name, value):
        error = self.assertRaises(exception.InvalidValue,
                                  attributes.read, name, value)
        self.assertIn(repr(value), str(error))
        self.assertIn(f'Host attribute {name}: ', str(error))
        self.assertNotIn('None', str(error))

    def test_versions_are_compared_by_their_numbers(self):
        ordered = ['1.9', '1.10', '2', '2.0.1', '10.0']
        self.assertEqual(ordered, sorted(ordered, key=attributes.platform))
        self.assertEqual(attributes.platform('2'),
                         attributes.platform('2.0'))
        self.assertEqual(attributes.platform('1.2'),
                         attributes.platform('1.2.0'))
        self.assertEqual((0,), attributes.platform('0.0.0').order)

    def test_the_zone_of_the_machine_does_not_matter(self):
        self.addCleanup(time.tzset)
        self.useFixture(fixtures.EnvironmentVariable('TZ', 'Asia/Tokyo'))
        time.tzset()
        moment = attributes.reboot('2031-05-06T22:00:00')
        self.assertEqual('2031-05-06T22:00:00+00:00', moment.isoformat())
        self.assertEqual(moment.timestamp(), attributes.platform(
            '20310506T220000Z').order)

    def test_a_date_ends_with_its_day(self):
        for text in '2026-12-31', '20261231':
            self.assertEqual(attributes.reboot('2026-12-31T23:59:59Z'),
                             attributes.reboot(text))

    def test_a_moment_before_the_first_year(self):
        self.assertRaises(exception.InvalidValue, attributes.reboot,
                          '0001-01-01T00:00:00+01:00')

    @ddt.data(
        (None, '2', True), ('1.9', '2', True), ('2', '2.0', False),
        ('2.1', '2', False), ('20261231T235959Z', '2', True),
        ('20261231T235959Z', '20261231T235958Z', False),
        ('20261231T235958Z', '20261231T235959Z', True))
    @ddt.unpack
    def test_is_before(self, value, version, expected):
        self.assertIs(expected, attributes.is_before(
            value, attributes.platform(version)))

    @ddt.data(
        ('hardware_class', '2.5', '2.5', True),
        ('hardware_class', '2.4', '2.5', False),
        ('platform_version', '2.10', '2.9', True),
        ('platform_version', '2.9', '2.10', False),
        # A stamp and a dotted version have no order.
        ('platform_version', '20261231T235959Z', '2', False),
        ('platform_version', '2', '20261231T235959Z', False),
        ('next_reboot', '2026-12-31', '2026-12-31T23:59:59Z', True),
        ('next_reboot', '2026-12-31', '2027-01-01', False))
    @ddt.unpack
    def test_is_at_least(self, name, value, least, expected):
        self.assertIs(expected, attributes.is_at_least(
            attributes.read(name, value), attributes.read(name, least)))

    def test_no_zone_is_utc(self):
        self.assertEqual(attributes.reboot('2026-12-31T22:00:00Z'),
                         attributes.reboot('2026-12-31T22:00:00'))
        self.assertEqual(attributes.reboot('2026-12-31T22:00:00Z'),
                         attributes.reboot('2026-12-31T23:00:00+01:00'))


def _said(*values):
    """Values of ordinary aggregates; those of own ones begin with +."""
    return [attributes.Statement(value.lstrip('+'), value.startswith('+'))
            for value in values]


@ddt.ddt
class EffectiveTest(base.BaseTestCase):
    """The rows of the table in the docstring."""

    @ddt.data(
        ('rack', [], None), ('rack', ['a'], 'a'),
        ('rack', ['a', '+b'], 'b'), ('rack', ['b', 'a'], 'a'),
        ('rack', ['+c', '+b', 'a'], 'b'),
        ('hardware_class', ['1', '+x'], '1'),
        ('next_reboot', ['2026-12-01', '+2026-12-31'], '2026-12-01'),
        ('next_reboot', ['2026-11-01', '+2026-12-31'], '2026-12-31'),
        ('next_reboot', ['2026-11-01'], None),
        ('next_reboot', ['2026-11-21T12:00:00Z'], None),
        ('next_reboot', ['2026-12-02T01:00:00+02:00',
                         '2026-12-02T00:00:00+00:00'],
         '2026-12-02T01:00:00+02:00'))
    @ddt.unpack
    def test_what_counts(self, name, values, expected):
        found, _ = attributes.effective(name, _said(*values), NOW)
        self.assertEqual(expected, found)

    def test_bad_ones_are_told(self):
        self.assertEqual(('2', ['x']), attributes.effective(
            'hardware_class', _said('x', '2'), NOW))

    @ddt.data(
        ('rack', ['b', 'a'], {'a'}), ('rack', [], set()),
        ('hardware_class', ['2', '+1'], {1.0}),
        ('hardware_class', ['x'], set()),
        ('next_reboot', ['2026-11-20', '2026-12-02', '2026-12-01'],
         {attributes.reboot('2026-12-01')}),
        ('ssd', ['b, a', 'c'], {'a', 'b', 'c'}), ('ssd', [], set()),
        ('ssd', ['a', '+b,c', '+d'], {'b', 'c', 'd'}))
    @ddt.unpack
    def test_all_values(self, name, values, expected):
        self.assertEqual(expected, attributes.all_values(
            name, _said(*values), NOW))

    @ddt.data(
        ('rack', ['a'], []), ('rack', ['a', 'b'], ['a', 'b']),
        ('hardware_class', ['1', '1.0'], []),
        ('hardware_class', ['1', '2', 'x'], ['1', '2']),
        ('hardware_class', ['1', 'x'], []),
        ('rack', ['a', '+b'], []), ('rack', ['a', '+b', '+c'], ['b', 'c']),
        ('rack', ['a', 'a'], []),
        ('next_reboot', ['2026-12-01', '2026-12-02'], []))
    @ddt.unpack
    def test_conflicts(self, name, values, expected):
        self.assertEqual(expected,
                         attributes.conflicting(name, _said(*values)))


class PlatformScoresTest(base.BaseTestCase):

    def test_place_in_the_range_of_time(self):
        found = attributes.platform_scores([
            attributes.platform('20260101T000000Z'),
            attributes.platform('20260111T000000Z'),
            attributes.platform('20260104T000000Z'), None])
        self.assertEqual([0.0, 1.0, 0.3, 0.0], found)

    def test_place_among_the_versions(self):
        found = attributes.platform_scores([
            attributes.platform(each) for each in ('1.0', '9.5', '1.2')])
        self.assertEqual([0.0, 1.0, 0.5], found)

    def test_the_rarer_kind_counts_as_unknown(self):
        found = attributes.platform_scores([
            attributes.platform(each) for each in ('1', '2', '3')] + [
            attributes.platform('20260101T000000Z')])
        self.assertEqual([0.0, 0.5, 1.0, 0.0], found)

    def test_as_many_of_each_kind(self):
        """The stamps count."""
        self.assertEqual([0.0, 1.0, 0.0], attributes.platform_scores([
            attributes.platform('2'),
            attributes.platform('20260101T000000Z'), None]))

    @given(st.dictionaries(st.one_of(st.none(), stamps, versions),
                           st.integers(1, 5), max_size=6))
    def test_of_each_platform_once(self, counts):
        platforms = [each for each, count in counts.items()
                     for _ in range(count)]
        scores = dict(zip(counts, attributes.platform_scores(
            [*counts], [*counts.values()])))
        self.assertEqual(attributes.platform_scores(platforms),
                         [scores[each] for each in platforms])

    @given(st.one_of(st.lists(st.one_of(st.none(), stamps), min_size=1),
                     st.lists(st.one_of(st.none(), versions), min_size=1)))
    def test_order_and_bounds(self, platforms):
        scores = attributes.platform_scores(platforms)
        known = {each for each in platforms if each is not None}
        for one, its in zip(platforms, scores):
            self.assertTrue(0.0 <= its <= 1.0)
            if one is None:
                self.assertEqual(0.0, its)
                continue
            if one == max(known):
                self.assertEqual(1.0, its)
            for other, others in zip(platforms, scores):
                if other is not None:
                    self.assertEqual(one < other, its < others)


class RebootScoresTest(base.BaseTestCase):

    def _scores(self, *days):
        """Scores of hosts that are rebooted in so many days, or never."""
        return attributes.reboot_scores(
            [None if each is None else NOW + each * DAY for each in days],
            NOW, WEEK)

    def test_buckets_count_back_from_the_latest(self):
        self.assertEqual([1.0, 1.0, 0.0, 0.0],
                         self._scores(30, 23.5, 23, 20))

    def test_none_and_passed_are_the_best_bucket(self):
        self.assertEqual([1.0, 1.0, 0.5, 0.0],
                         self._scores(None, -3, 30, 3))
        self.assertEqual([1.0, 0.0], self._scores(None, 1))

    def test_far_future_does_not_flatten_the_others(self):
        self.assertEqual([1.0, 0.5, 0.0], self._scores(36500, 30, 3))

    @given(st.lists(st.one_of(st.none(), moments), min_size=1))
    def test_order_bounds_and_buckets(self, dates):
        scores = attributes.reboot_scores(dates, NOW, WEEK)
        coming = [date if date and date > NOW else None for date in dates]
        self.assertTrue(all(0.0 <= each <= 1.0 for each in scores))
        self.assertEqual(1.0, max(scores))
        for one, its in zip(coming, scores):
            for other, others in zip(coming, scores):
                if one is None:
                    self.assertEqual(other is None, its == others)
                elif other is not None and one <= other:
                    self.assertLessEqual(its, others)
                    if other - one > WEEK:
                        self.assertLess(its, others)

    @given(st.lists(st.one_of(st.none(), moments), min_size=1),
           st.randoms())
    def test_the_order_of_the_hosts_does_not_matter(self, dates, chance):
        places = list(range(len(dates)))
        chance.shuffle(places)
        scores = attributes.reboot_scores(dates, NOW, WEEK)
        shuffled = attributes.reboot_scores(
            [dates[place] for place in places], NOW, WEEK)
        self.assertEqual([scores[place] for place in places], shuffled)

    def test_soon(self):
        for days, expected in ((0, False), (-1, False), (1, True),
                               (7, True), (7.1, False)):
            self.assertEqual(expected, attributes.reboots_within(
                NOW + days * DAY, NOW, WEEK))
        self.assertFalse(attributes.reboots_within(None, NOW, WEEK))


class HardwareScoresTest(base.BaseTestCase):

    def test_linear(self):
        self.assertEqual([0.0, 1.0, 0.25, 0.0],
                         attributes.hardware_scores([1.0, 5.0, 2.0, None]))

    def test_equal_and_unknown(self):
        self.assertEqual([1.0, 0.0, 1.0],
                         attributes.hardware_scores([3.0, None, 3.0]))
        self.assertEqual([0.0, 0.0],
                         attributes.hardware_scores([None, None]))

    @given(st.lists(st.one_of(st.none(), st.floats(
        min_value=-1e15, max_value=1e15)), min_size=1))
    def test_order_and_bounds(self, classes):
        scores = attributes.hardware_scores(classes)
        for one, its in zip(classes, scores):
            self.assertTrue(0.0 <= its <= 1.0)
            for other, others in zip(classes, scores):
                if one is not None and other is not None and one <= other:
                    self.assertLessEqual(its, others)


class OrdinalsTest(base.BaseTestCase):

    def test_from_one_in_order_of_appearance(self):
        self.assertEqual({'z': 1, 'a': 2},
                         attributes.ordinals(['z', None, 'a', 'z']))
