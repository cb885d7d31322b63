# SPDX-License-Identifier: Apache-2.0

"""How long hosts were held, against a count of every second."""

import collections
import datetime
import decimal
import time

import ddt
import fixtures
import hypothesis
from hypothesis import strategies as st
import testtools

from pcloud import exception
from pcloud.rules.usage import ledger

# Around the ends of months, of a leap February and of a year.
_BORDERS = [int(datetime.datetime(*day, tzinfo=datetime.UTC).timestamp())
            for day in ((2028, 2, 29), (2028, 3, 1), (2027, 1, 1),
                        (2026, 12, 1), (2026, 3, 1))]
_MOMENTS = st.builds(lambda border, shift: border + shift,
                     st.sampled_from(_BORDERS), st.integers(-30, 30))
_PRICES = st.none() | st.sampled_from(['0', '1.5', '0.000001', '12.25'])
_RATES = st.dictionaries(
    _MOMENTS, st.builds(ledger.Rate, st.integers(0, 20), _PRICES),
    max_size=4).map(lambda rates: sorted(rates.items()))
PCLOUD = 'f0000000-0000-4000-8000-000000000000'


def span(since, flavor='gpu', **more):
    return ledger.Span(flavor, PCLOUD, since, project='alice', **more)


def counted(since, end, rates, form='%Y-%m'):
    """Count second by second.

    :param form: of a month or day
    """
    found = collections.defaultdict(ledger.Sum)
    months = set()
    for second in range(since, end):
        month = datetime.datetime.fromtimestamp(
            second, datetime.UTC).strftime(form)
        now = [rate for begin, rate in rates if begin <= second] or [
            rate for _, rate in rates[:1]] or [ledger.Rate(0)]
        price = now[-1].price
        found[month] = found[month].plus(ledger.Sum(
            month not in months, 1, now[-1].units, None if price is None
            else int(decimal.Decimal(price) * 10 ** 6)))
        months.add(month)
    return dict(found)


@ddt.ddt
class LedgerTest(testtools.TestCase):

    @hypothesis.given(_MOMENTS, st.integers(-5, 90), _RATES)
    def test_every_second_counts_once(self, since, seconds, rates):
        end = since + seconds
        self.assertEqual(counted(since, end, rates),
                         ledger.used(span(since), end, rates))
        self.assertEqual(
            counted(since, end, rates, '%Y-%m-%d'),
            ledger.used(span(since), end, rates, ledger.by_day))

    @hypothesis.given(st.lists(_MOMENTS, min_size=3, max_size=6), _RATES)
    def test_a_cut_takes_nothing_away(self, cuts, rates):
        """A span that is closed and opened again comes to the same."""
        cuts.sort()
        parts = collections.defaultdict(ledger.Sum)
        for begin, end in zip(cuts, cuts[1:]):
            for month, its in ledger.used(span(begin), end, rates).items():
                parts[month] = parts[month].plus(its)
        whole = ledger.used(span(cuts[0]), cuts[-1], rates)
        self.assertEqual(whole.keys(), parts.keys())
        for month, its in whole.items():
            self.assertEqual(
                (its.seconds, its.unit_seconds, its.cost),
                (parts[month].seconds, parts[month].unit_seconds,
                 parts[month].cost))

    @hypothesis.given(_MOMENTS, st.integers(-5, 90), _RATES)
    def test_open_spans(self, since, seconds, rates):
        now = since + seconds
        for month in ('2026-02', '2028-02', '2028-03', '2026-12'):
            expected = counted(since, now, rates).get(month)
            self.assertEqual(
                {} if expected is None else {'gpu': expected},
                ledger.totals({}, [(span(since), rates)], month, now))

    @hypothesis.given(
        st.lists(_MOMENTS, min_size=2, max_size=6), _MOMENTS, _RATES)
    def test_days(self, cuts, now, rates):
        """Whatever has ended, the days come to what the month comes to."""
        cuts.sort()
        closed = collections.defaultdict(lambda: {'gpu': ledger.Sum()})
        for since, end in zip(cuts, cuts[1:]):
            for split in (ledger.by_month, ledger.by_day):
                for period, its in ledger.used(
                        span(since), end, rates, split).items():
                    closed[period] = {'gpu': closed[period]['gpu'].plus(its)}
        spans = [(span(cuts[-1]), rates), (span(cuts[0], 'big'), rates)]
        for month in ('2026-02', '2028-02', '2028-03', '2026-12'):
            begin, following = ledger.bounds(month)
            whole = ledger.totals(closed.get(month, {}), spans, month, now)
            periods = set(ledger.days_of(month))
            days = ledger.daily(
                {period: its for period, its in closed.items()
                 if period in periods}, spans, month, now)
            self.assertEqual(sorted(days), list(days))
            last = min(now, following - 1)
            self.assertLessEqual(
                {day for day, _ in ledger.by_day(begin, last + 1)},
                days.keys())
            for flavor in ('gpu', 'big'):
                parts = ledger.Sum()
                for its in days.values():
                    parts = parts.plus(its.get(flavor, ledger.Sum()))
                its = whole.get(flavor, ledger.Sum())
                self.assertEqual(
                    (its.seconds, its.unit_seconds, its.cost),
                    (parts.seconds, parts.unit_seconds, parts.cost))

    def test_each_day_up_to_now(self):
        begin, following = ledger.bounds('2028-02')
        days = ledger.daily({}, [(span(0), [(0, ledger.Rate(2))])],
                            '2028-02', begin + 86401)
        self.assertEqual(
            {'2028-02-01': {'gpu': ledger.Sum(1, 86400, 2 * 86400)},
             '2028-02-02': {'gpu': ledger.Sum(1, 1, 2)}}, days)
        self.assertEqual(29, len(ledger.daily({}, [], '2028-02', following)))
        self.assertEqual({'2028-02-01': {}}, ledger.daily(
            {}, [], '2028-02', begin))

    def test_what_is_kept_of_a_long_span(self):
        end = ledger.bounds('2028-03')[0] + 30
        kept = ledger.to_keep(span(0), end, [(0, ledger.Rate(1))])
        self.assertEqual(
            [ledger.oldest(end), '2028-03'],
            [each(period for period in kept if len(period) == 7)
             for each in (min, max)])
        self.assertEqual(
            [*ledger.days_of('2028-02'), '2028-03-01'],
            sorted(period for period in kept if len(period) == 10))

    def test_months_with_days(self):
        now = ledger.bounds('2026-01')[0]
        for month in ('2025-12', '2026-01'):
            ledger.check_days(month, now)
        for month in ('2025-11', '2026-02', '2024-11', '2026'):
            error = self.assertRaises(
                exception.InvalidValue, ledger.check_days, month, now)
            self.assertIn(f"Month: '{month}' ", str(error))

    def test_free_hosts_count_nothing(self):
        self.assertEqual({}, ledger.used(
            span(0, free=True), 999, [(0, ledger.Rate(1, '1'))]))

    @ddt.data('0', '12', '12.5', '999999999.999999', '007')
    def test_prices(self, text):
        self.assertEqual(text, ledger.read_price(text))

    @ddt.data('', 'x', '-1', '1.', '.5', '1,5', '1e3', '1234567890',
              '1.0000001', '1 ', '１')
    def test_no_prices(self, text):
        error = self.assertRaises(
            exception.InvalidValue, ledger.read_price, text)
        self.assertIn(
            f"Price: '{text}' is not right; it has to be a decimal number of "
            'at most 9 digits', str(error))

    def _go_to(self, zone):
        self.addCleanup(time.tzset)
        self.useFixture(fixtures.EnvironmentVariable('TZ', zone))
        time.tzset()

    def test_stamps(self):
        self._go_to('Asia/Tokyo')
        for moment, text in ((0, '19700101T000000Z'),
                             (1795802743, '20261127T180543Z')):
            self.assertEqual(text, ledger.stamp(moment))
            self.assertEqual(moment, ledger.moment_of(text))
        for text in ('', 'x', '20261127T180543', '20261127T180543z',
                     # What Python reads, and does not write.
                     '2026117T180543Z', '20261127T18543Z'):
            self.assertIsNone(ledger.moment_of(text))

    @ddt.data(('2026-11', 30), ('2028-02', 29), ('2027-02', 28),
              ('2026-12', 31))
    @ddt.unpack
    def test_bounds(self, month, days):
        begin, end = ledger.bounds(month)
        self.assertEqual(days * 86400, end - begin)
        self.assertEqual([month, month], [
            ledger.month_of(begin), ledger.month_of(end - 1)])

    def test_months_begin_in_utc(self):
        self._go_to('Asia/Tokyo')
        self.assertEqual((0, 31 * 86400), ledger.bounds('1970-01'))
        self.assertEqual(4291747200, ledger.bounds('2105-12')[1])

    def test_splits_of_a_time(self):
        first, second = ledger.bounds('2026-11')
        for split, periods in (
                (ledger.by_month, ['2026-10', '2026-11']),
                (ledger.by_day, ['2026-10-31', '2026-11-01'])):
            self.assertEqual([], list(split(first, first)))
            self.assertEqual([], list(split(first, first - 1)))
            self.assertEqual(
                [(periods[0], 1), (periods[1], 1)],
                list(split(first - 1, first + 1)))
            self.assertEqual([(periods[0], 1)], list(split(first - 1, first)))
        self.assertEqual(
            [('2026-11', second - first), ('2026-12', 1)],
            list(ledger.by_month(first, second + 1)))

    @ddt.data('2106-01', '2026-13', '2026-00', '2026-1', '26-01', '',
              '2026-11-01',
              '9999-12', '1969-12', '２０２６-11')
    def test_no_months(self, month):
        error = self.assertRaises(
            exception.InvalidValue, ledger.bounds, month)
        self.assertIn(
            f"Month: '{month}' is not right; it has to be a year and a month",
            str(error))

    def test_is_kept(self):
        """Days of the month before, and months of the year before."""
        now = ledger.bounds('2026-11')[0]
        for period, kept in (
                ('2026-11', True), ('2025-10', True), ('2025-09', False),
                ('2026-11-01', True), ('2026-10-01', True),
                ('2026-09-30', False), ('2025-10-01', False)):
            self.assertIs(kept, ledger.is_kept(period, now), period)

    def test_kept_months(self):
        now = ledger.bounds('2026-11')[0]
        self.assertEqual('2025-10', ledger.oldest(now))
        self.assertEqual('2024-12', ledger.oldest(
            ledger.bounds('2026-01')[0]))
        for month in ('2025-10', '2026-11'):
            ledger.check_month(month, now)
        for month in ('2025-09', '2026-12'):
            error = self.assertRaises(
                exception.InvalidValue, ledger.check_month, month, now)
            self.assertIn(f"'{month}' is not right; it has to be one from "
                          '2025-10 to 2026-11', str(error))

    @hypothesis.given(st.integers(0, 10 ** 12))
    def test_a_second_is_told(self, seconds):
        hours = ledger.Sum(1, seconds).host_hours
        self.assertEqual(seconds, round(hours * 3600))
        self.assertEqual(seconds, round(float(hours) * 3600))

    def test_cost(self):
        its, = ledger.used(span(_BORDERS[0]), _BORDERS[0] + 5400, [
            (0, ledger.Rate(8, '12.25'))]).values()
        self.assertEqual('18.375000', str(its.price))
        self.assertEqual('1.500000', str(its.host_hours))
        self.assertEqual('12.000000', str(its.unit_hours))
        self.assertIsNone(ledger.Sum(1).price)
