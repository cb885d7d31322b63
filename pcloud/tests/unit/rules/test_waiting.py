# SPDX-License-Identifier: Apache-2.0

"""The order of those who wait."""

import dataclasses
import random

import ddt
import hypothesis
from hypothesis import strategies
import testtools

from pcloud import exception
from pcloud.rules.moving import dates
from pcloud.rules import waiting

PCLOUD = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'


def entry(id_, owner, since=1000, zone=None):
    """Return who waits."""
    return waiting.Waiting(id_, 'gold', owner, waiting.Entry(
        PCLOUD, id_, since, 9000, zone=zone))


def ids(places):
    """Return the ids of places, in order."""
    return [place.waiting.id for place in places]


def model(entries, projects, units):
    """Return places in the slow way: the least of all, again and again."""
    left, used, found = list(entries), {
        each.owner: projects.get(each.owner, waiting.Project()).in_use
        for each in entries}, []
    while left:
        best = min(left, key=lambda each: (
            used[each.owner] / projects.get(
                each.owner, waiting.Project()).share,
            each.entry.since, each.id))
        project = projects.get(best.owner, waiting.Project())
        found.append((best.id, project.limit == -1 or not units or (
            used[best.owner] + project.settling + units <= project.limit)))
        used[best.owner] += units
        left.remove(best)
    return found


PROJECTS = strategies.builds(
    waiting.Project, strategies.integers(0, 9),
    strategies.sampled_from([0.5, 1.0, 2.0, 3.0]),
    strategies.integers(-1, 12), strategies.integers(0, 3))


@ddt.ddt
class OrderTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data(
        ({'a': (2,), 'b': (1,)}, ['a1', 'b1'], ['b1', 'a1']),
        ({'a': (1,), 'b': (1,)}, ['a1', 'b1'], ['a1', 'b1']),
        ({'a': (3, 4.0), 'b': (1,)}, ['a1', 'b1'], ['a1', 'b1']),
        ({}, ['a1', 'a2', 'b1'], ['a1', 'b1', 'a2']),
        ({}, [], []))
    def test_table(self, projects, names, expected):
        entries = [entry(name, name[0], number)
                   for number, name in enumerate(names)]
        places = waiting.order(entries, {
            owner: waiting.Project(*its) for owner, its in projects.items()},
            1)
        self.assertEqual(expected, ids(places))
        self.assertEqual([*range(1, len(names) + 1)],
                         [place.position for place in places])

    @hypothesis.given(
        strategies.lists(strategies.tuples(
            strategies.sampled_from('abc'), strategies.integers(0, 5)),
            max_size=9),
        strategies.dictionaries(strategies.sampled_from('abc'), PROJECTS),
        strategies.integers(0, 3), strategies.randoms())
    def test_model(self, drawn, projects, units, chance):
        entries = [entry(f'e{number}', owner, since)
                   for number, (owner, since) in enumerate(drawn)]
        expected = model(entries, projects, units)
        chance.shuffle(entries)
        self.assertEqual(expected, [
            (place.waiting.id, place.is_matchable)
            for place in waiting.order(entries, projects, units)])

    def test_twice_the_share_gets_twice_as_many(self):
        chance, projects = random.Random(1), {
            'a': waiting.Project(share=2.0), 'b': waiting.Project()}
        entries = [entry(f'{owner}{number}', owner, chance.randrange(1000))
                   for owner in 'ab' for number in range(10)]
        got = {'a': 0, 'b': 0}
        for number in range(300):
            first = waiting.order(entries, projects, 1)[0].waiting
            got[first.owner] += 1
            projects[first.owner] = projects[first.owner].with_more(1)
            entries.remove(first)
            entries.append(entry(f'n{number}', first.owner, 1000 + number))
        self.assertEqual({'a': 200, 'b': 100}, got)

    def test_before(self):
        places = waiting.order(
            [entry('a1', 'a', zone='x'), entry('b1', 'b', zone='y'),
             entry('c1', 'c'), entry('d1', 'd')],
            {'d': waiting.Project(limit=0)}, 1)
        for zone, expected in (
                ('x', ['a1', 'c1']), ('y', ['b1', 'c1']), ('z', ['c1']),
                (None, ['a1', 'b1', 'c1'])):
            self.assertEqual(expected, ids(waiting.before(places, zone)))


@ddt.ddt
class ValuesTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data(
        ('web', [], 'web'), ('web', ['WEB'], 'web-2'),
        ('web', ['web', 'web-2'], 'web-3'),
        ('x' * 63, ['x' * 63], 'x' * 61 + '-2'))
    def test_free_name(self, name, taken, expected):
        self.assertEqual(expected, waiting.free_name(name, taken))

    @ddt.data('', '0', '-1', 'x', '1001', 'nan', 'inf', '1.0', ' 1', '1e0')
    def test_no_share(self, text):
        error = self.assertRaises(
            exception.InvalidValue, waiting.share, text)
        self.assertIn(f"Share: '{text}' is not right; it has to be a number "
                      'from 0.001 to 1000.', str(error))

    def test_no_share_of_its_own(self):
        self.assertEqual({}, waiting.stored_share(None))

    @hypothesis.given(strategies.floats(
        waiting.LEAST_SHARE, waiting.MOST_SHARE))
    def test_share(self, value):
        kept = waiting.stored_share(value)
        self.assertAlmostEqual(value, waiting.share(kept['waiting']), 5)

    def test_bounds_of_shares(self):
        self.assertEqual([0.001, 1000.0],
                         list(map(waiting.share, ('0.001', '1000'))))
        self.assertRaises(exception.InvalidValue, waiting.share, '0.0009')

    def test_a_project_of_which_nothing_is_kept(self):
        project = waiting.Project(limit=1)
        self.assertEqual(0, project.rank)
        self.assertEqual([True, False], list(map(project.allows, (1, 2))))

    def test_until(self):
        now = 1790000000
        self.assertEqual(now + 60, waiting.until(
            '2026-09-21T14:14:20Z', now, 60))
        for text in ('2026-09-21T14:14:21Z', '2026-09-21T14:13:20Z', 'x', ''):
            error = self.assertRaises(
                exception.InvalidValue, waiting.until, text, now, 60)
            self.assertIn(f"wait_until: '{text}' is not right; it has to be "
                          'a moment to come', str(error))
            self.assertIn('at most 60 seconds from now', str(error))

    def test_entry(self):
        text = (f'pcloud={PCLOUD} name=a since=19700101T001640Z '
                'until=19700101T023000Z')
        self.assertEqual(entry('a', 'b').entry, waiting.Entry.read(text))
        self.assertEqual('my zone', waiting.Entry.read(
            f'{text} zone=my zone').zone)

    def test_date_of_the_host(self):
        its = entry('a', 'b').entry
        self.assertIsNone(its.until_of_host)
        for move, expected in (('live', 'live'), (None, 'none')):
            self.assertEqual(
                dates.Until(7000, expected), dataclasses.replace(
                    its, leave=7000, move=move).until_of_host)
