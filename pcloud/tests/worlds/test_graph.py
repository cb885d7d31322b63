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

import unittest

from pcloud.tests.worlds import graph


def _explore(steps, programs):
    """Let programs of a toy world go on in every order.

    :param steps: name of an action to what it does to variables
    :param programs: name of each actor to its actions
    """
    found, ends, runs = graph.Graph(), set(), 0
    while not found.is_complete:
        runs += 1
        values, at, last = {}, dict.fromkeys(programs, 0), None
        while True:
            state = repr((sorted(values.items()), at))
            left = [name for name in programs if at[name] < len(
                programs[name])]
            if last:
                found.went(*last, state)
            found.meet(state, left)
            if not left:
                ends.add(values.get('sum'))
                break
            last = state, found.choose(state)
            name = last[1]
            steps[programs[name][at[name]]](values, name)
            at[name] += 1
    return found, ends, runs


def _read(values, name):
    values[name] = values.get('sum', 0)


def _write(values, name):
    values['sum'] = values[name] + 1


def _add(values, name):
    values['sum'] = values.get('sum', 0) + 1


STEPS = {'read': _read, 'write': _write, 'add': _add}


class GraphTest(unittest.TestCase):

    def test_an_update_that_gets_lost_is_found(self):
        found, ends, runs = _explore(
            STEPS, {'a': ['read', 'write'], 'b': ['read', 'write']})
        self.assertEqual({1, 2}, ends)
        self.assertEqual(6, found.interleavings())
        self.assertLessEqual(runs, 6)

    def test_what_commutes_is_one_state(self):
        found, ends, runs = _explore(
            STEPS, {name: ['add'] * 10 for name in 'ab'})
        self.assertEqual({20}, ends)
        self.assertEqual((184756, 121, 220), (
            found.interleavings(), found.states, found.turns))
        self.assertLess(runs, 40)

    def test_three(self):
        found, ends, _ = _explore(
            STEPS, {name: ['read', 'write'] for name in 'abc'})
        self.assertEqual({1, 2, 3}, ends)
        self.assertEqual(90, found.interleavings())

    def test_chance_is_told(self):
        found = graph.Graph()
        found.meet('start', ['a'])
        found.went('start', 'a', 'one')
        with self.assertRaises(graph.Unlike):
            found.went('start', 'a', 'two')
