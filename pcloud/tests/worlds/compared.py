# SPDX-License-Identifier: Apache-2.0

"""Worlds that are explored a second time with nothing forgotten."""

import hashlib
import json
from unittest import mock

from pcloud.tests.worlds import graph
from pcloud.tests.worlds import memory
from pcloud.tests.worlds import places
from pcloud.tests.worlds import world


class Whole(memory.Everything):
    """All readings to the letter, times and names included."""

    def note(self, value: object) -> None:
        """Remember a reading."""
        self._readings.update(json.dumps(value, default=str).encode())


class ComparedTestCase(world.WorldTestCase):
    """Worlds of which states are merged in two ways.

    The invariants depend on what can be seen, so the state of a world begins
    with the digest of what can be seen.
    """

    is_whole = False

    def _digest(self, standing):
        seen = [sorted(self.answers.items()), self.rows.all()]
        visible = _hash(places.Places.plain(self.places, seen))
        if not self.is_whole:
            return f'{visible} {super()._digest(standing)}'
        return f'{visible} ' + _hash(json.dumps(
            [standing, seen, self.remembered(),
             self.places.memories(self._names)] if standing else [],
            default=str))

    def compare(self, *actors) -> graph.Graph:
        """Explore with and without what actors forget, and compare.

        :returns: the graph with what actors forget
        """
        found = self.explore(*actors)
        with mock.patch.object(graph.Graph, 'infer'):
            self.assertEqual(self.explore(*actors).next, found.next)
            self.is_whole = True
            self._names = [each.name for each in actors]
            self.places.remembering = self.places.launching = Whole
            whole = self.explore(*actors)
        self._check_equal(whole, found)
        return found

    def compare_launches(self, *actors) -> None:
        """Explore with launches that forget and with launches that do not."""
        found = self.explore(*actors)
        self.places.launching = memory.Everything
        with mock.patch.object(graph.Graph, 'infer'):
            whole = self.explore(*actors)
        self._check_equal(whole, found)

    def _check_equal(self, whole, found):
        self.assertEqual(whole.turns, whole.taken)
        self.assertLess(found.taken, whole.taken)
        self.assertEqual(whole.interleavings(), found.interleavings())
        self.assertEqual(_visible(whole.next), _visible(found.next))
        self.assertEqual(_visible(whole.ends), _visible(found.ends))


def _hash(text):
    return hashlib.sha256(text.encode()).hexdigest()


def _visible(states):
    return {state.split()[0] for state in states}
