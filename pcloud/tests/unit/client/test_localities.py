# SPDX-License-Identifier: Apache-2.0

"""Where a server may go, from what the owner of a Pcloud sees."""

import unittest

import ddt

from pcloud.client import localities

SPOTS = [localities.Spot('a', 1, True, frozenset({'x', 'tag:t'})),
         localities.Spot('b', 1, True, frozenset({'y', 'tag:t'})),
         localities.Spot('c', 2, True, frozenset({'z'})),
         localities.Spot('d', None),
         localities.Spot('e', 2, takes=False)]


@ddt.ddt
class TestKept(unittest.TestCase):

    @ddt.unpack
    @ddt.data(
        # near, far, strict, kept
        ((), (), False, 'abcd'),
        (('x',), (), False, 'a'),
        (('tag:t',), (), False, 'ab'),
        # One host would have to run both; their rack is the same.
        (('tag:t',), (), True, 'ab'),
        (('x', 'z'), (), True, ''),
        ((), ('z',), False, 'abd'),
        ((), ('tag:t',), True, 'cd'),
        # Far comes first.
        (('x',), ('x',), False, 'cd'),
        # Nobody knows where the server is.
        (('away',), (), False, 'abcd'),
        (('away',), (), True, ''),
        ((), ('away',), True, 'abcd'),
    )
    def test_the_hosts(self, near, far, strict, kept):
        self.assertEqual(
            list(kept), localities.kept(SPOTS, near, far, strict))

    def test_none_takes_the_server(self):
        self.assertEqual([], localities.kept(SPOTS[4:], ['z'], [], False))
