# SPDX-License-Identifier: Apache-2.0

"""What actors forget, and that no state is lost by what actors forget."""

import dataclasses
import json
import random
import unittest
from unittest import mock

import ddt
from nova import context as nova_context

from pcloud.objects.changing_hands import allocation
from pcloud.objects import reconcile
from pcloud.tests.worlds import compared
from pcloud.tests.worlds import copies
from pcloud.tests.worlds import memory
from pcloud.tests.worlds import ranks
from pcloud.tests.worlds import test_calls
from pcloud.tests.worlds import turns


@dataclasses.dataclass(frozen=True)
class Frozen:

    name: str


class MemoryTest(unittest.TestCase):

    def setUp(self):
        self.memory = memory.Memory()

    def _call(self, function, *args):
        return memory.forgetting(function, lambda: self.memory)(*args)

    def _readings(self):
        return [[json.loads(each) for each in call]
                for call in self.memory.text()]

    def _read(self, *readings):
        for each in readings:
            self.memory.note(each)

    def test_a_call_leaves_the_return_value(self):
        def work(_):
            self._read(1, 2)
            self.assertEqual([[0], [1, 2]], self._readings())
            return Frozen('a')

        self._read(0)
        self._call(work, {'b': [frozenset('c')]})
        self.assertEqual([[0, ['Frozen', 'a']]], self._readings())

    def test_a_call_leaves_the_error(self):
        def work():
            self._read(1)
            raise ValueError('odd')

        with self.assertRaisesRegex(ValueError, 'odd'):
            self._call(work)
        self.assertEqual(
            [[['ValueError', 'odd', ['mapping', []]]]], self._readings())

    def test_a_call_without_readings_leaves_nothing(self):
        self._call(lambda: 5)
        self.assertEqual([[]], self._readings())

    def test_calls_within_calls(self):
        def outer():
            self._read(1)
            self._call(inner)
            self.assertEqual([[], [1, None]], self._readings())
            return 3

        def inner():
            self._read(2)
            self.assertEqual([[], [1], [2]], self._readings())

        self._call(outer)
        self.assertEqual([[3]], self._readings())

    def test_what_may_be_changed_keeps_the_readings(self):
        self._call(lambda _: self._read(1, 2), object())
        self._call(lambda: self._read(3) or object())
        self.assertEqual([[1, 2, 3]], self._readings())

    def test_a_further_attempt_forgets_earlier_attempts(self):
        remaining = [1, 2, 3]
        begun = []

        def work(_):
            self._read(remaining.pop(0))
            if remaining:
                raise ValueError('odd')
            self.assertEqual([[0], [3]], self._readings())

        self._read(0)
        tried = memory.attempt(
            work, lambda: self.memory, lambda: begun.append(remaining[0]))
        for _ in range(2):
            with self.assertRaises(ValueError):
                tried('a')
        tried('a')
        self.assertEqual([2, 3], begun)
        self.assertEqual([[0, None]], self._readings())

    def test_an_attempt_that_may_change_something_is_not_forgotten(self):
        tried = memory.attempt(
            lambda _: self._read(1), lambda: self.memory, self.fail)
        tried(object())
        tried(object())
        self.assertEqual([[1, 1]], self._readings())

    def test_what_has_been_drawn_is_remembered(self):
        def readings_after(times):
            self.memory = memory.Memory()
            chance = random.Random(0)
            self._call(lambda chance: [chance.random() for _ in range(times)]
                       and None, chance)
            return self._readings()

        self.assertEqual(readings_after(1), readings_after(1))
        self.assertNotEqual(readings_after(1), readings_after(2))

    def test_a_changed_argument_is_found(self):
        with self.assertRaises(memory.Changed):
            self._call(lambda several: several.append(1), [])

    def test_order_of_a_mapping_does_not_matter(self):
        self.assertEqual(memory.plain({'a': 1, 'b': {2, 3}}),
                         memory.plain({'b': {3, 2}, 'a': 1}))


class LaunchTest(unittest.TestCase):

    def _after(self, *readings):
        launch = memory.Launch()
        for each in readings:
            launch.note(each)
        return launch

    def test_the_order_of_readings_matters_until_hosts_are_selected(self):
        one, two = self._after(1, 2), self._after(2, 1)
        self.assertNotEqual(one.text(), two.text())
        self.assertFalse(one.has_selected)
        for each in one, two:
            each.select({'a': ['node-1']})
        self.assertEqual(one.text(), two.text())
        self.assertTrue(one.has_selected)

    def test_a_strand_remembers_its_own_hosts_and_readings(self):
        def strand_of_a(hosts, *others):
            launch = self._after()
            launch.select({'a': hosts, 'b': ['node-2']})
            for each in others:
                launch.of_strand('b').note(each)
            launch.of_strand('a').note('spawn')
            return launch.of_strand('a').text()

        self.assertEqual(strand_of_a(['node-1'], 'spawn', 'build_instances'),
                         strand_of_a(['node-1']))
        self.assertNotEqual(strand_of_a(['node-1']), strand_of_a(['node-2']))

    def test_there_are_no_strands_before_the_selection(self):
        launch = self._after(1)
        self.assertIs(launch, launch.of_strand('a'))
        self.assertIs(launch, launch.of_strand(''))


class RanksTest(unittest.TestCase):

    def test_times(self):
        self.assertEqual(
            '["time 1", "since=time 0", "time 1"]', ranks.plain([
                '2030-01-01 00:00:20', 'since=20300101T000000Z',
                '2030-01-01T00:00:20']))

    def test_generations(self):
        self.assertEqual('[1:newest, 2:newest, 1:older, 12]', ranks.plain(
            [1000000000007, 2000000000003, 1000000000005, 12]))

    def test_names(self):
        self.assertEqual('name 0 0123456789ad name 1 name 0', ranks.numbered(
            '0123456789ac 0123456789ad 0123456789ab 0123456789ac',
            {'0123456789ab', '0123456789ac'}))

    def test_earlier_marks_of_an_anchor(self):
        self.assertEqual(
            '[["pcloud-journal", "pcloud:changes:quota:a", "0123456789ab"], '
            '["pcloud-journal", "pcloud:due:b", "mark=0123456789ac"]]',
            ranks.plain([
                ['pcloud-journal', 'pcloud:changes:quota:a',
                 '0123456789ab 0123456789ac'],
                ['pcloud-journal', 'pcloud:due:b', 'mark=0123456789ac']]))


@ddt.ddt
class ComparedTest(compared.ComparedTestCase, test_calls.CallsTestCase):
    """Pairs of which no states are merged that differ in a letter."""

    @ddt.data(('enable', 'enable'), ('enable', 'delete'),
              ('delete', 'quota'), ('delete', 'empty pool'),
              ('remove', 'enable'), ('remove', 'quota'))
    @ddt.unpack
    def test_nothing_is_lost(self, first, second):
        self.compare(self.caller('one', first), self.caller('two', second))

    def test_nothing_is_lost_with_attempts(self):
        with mock.patch.object(reconcile, 'finish_written'):
            self.add_host(self.bob, self.theirs, 'b', 'gpu', enable=False)
        found = self.compare(*map(self._reconciler, ('one', 'two')))
        self.assertEqual(
            {'host', '_tell_aggregates'},
            {each.function for each in found.repetitions()})

    def _reconciler(self, name):
        """Return the actor that does what is due for a host."""
        host, = self.rows.dues()

        def work():
            context = nova_context.RequestContext(name, is_admin=True)
            with self.places.one_call():
                reconcile.host(context, host)
        return turns.Actor(name, work)


class PlantedTest(test_calls.CallsTestCase):
    """A fault that few orders of two calls show."""

    def test_a_host_for_two(self):
        with mock.patch.object(allocation, '_check_alone', lambda *_: None):
            with self.assertRaisesRegex(copies.CopyFailed, 'matches Contains'):
                self.explore(self.caller('one', 'add'),
                             self.caller('two', 'bob adds'))
