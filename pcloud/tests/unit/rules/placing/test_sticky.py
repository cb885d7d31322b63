# SPDX-License-Identifier: Apache-2.0


import base64
import json
import zlib

import ddt
from hypothesis import given
from hypothesis import strategies as st
from oslotest import base

from pcloud import exception
from pcloud.rules.placing import affinity
from pcloud.rules.placing import sticky

texts = st.sampled_from([
    'store=1:60', 'store=2:60', '_zone=-0.5:0.25', 'x=0.001:-7'])
key_lists = st.lists(texts, max_size=3).map(
    lambda several: tuple(map(affinity.parse, several)))
copies = st.builds(sticky.Copies, key_lists, st.dictionaries(
    st.text(st.characters(codec='utf-8'), max_size=9), key_lists, max_size=5),
    st.none() | st.builds(sticky.Start, st.text(max_size=9), st.text()))


def _keys(*several):
    return tuple(map(affinity.parse, several))


@ddt.ddt
class CopiesTest(base.BaseTestCase):

    @ddt.data(
        # kept before, keys of the host, kept afterwards
        ('', 'store=1:60', 'store=1:60'),
        ('store=1:60', '', 'store=1:60'),
        ('store=1:60', 'store=2:5', 'store=2:5'),
        ('store=1:60', 'rack=3:1', 'rack=3:1 store=1:60'),
        ('a=1:1 b=1:1', 'b=2:2 c=2:2', 'a=1:1 b=2:2 c=2:2'))
    @ddt.unpack
    def test_a_copy_is_kept_until_replaced(self, kept, of_host, expected):
        keys = _keys(*of_host.split())
        after = sticky.started(
            sticky.Copies(_keys(*kept.split())), sticky.Start('here'), keys)
        self.assertEqual(_keys(*expected.split()), after.kept)
        self.assertEqual({'here': keys}, after.offered)

    def test_offers_are_those_of_the_latest_placement(self):
        one, two = _keys('store=1:60'), _keys('store=2:60')
        placed = sticky.offering(
            sticky.Copies((), {'here': one}), {'there': two})
        self.assertEqual({'here': one, 'there': two}, placed.offered)
        start = sticky.Start('there', 'today')
        moved = sticky.started(placed, start, placed.offered['there'])
        self.assertEqual(sticky.Copies(two, {'there': two}, start), moved)

    @given(copies, st.sampled_from(['a', 'b']), key_lists)
    def test_starting_anew_on_a_host_changes_nothing(
            self, before, host, keys):
        once = sticky.started(before, sticky.Start(host), keys)
        self.assertEqual(
            once, sticky.started(once, sticky.Start(host), keys))

    @given(copies)
    def test_written_and_read(self, kept):
        self.assertEqual(kept, sticky.loads(sticky.dumps(kept)))

    def test_a_thousand_hosts_are_written_in_a_few_thousand_letters(self):
        text = sticky.dumps(sticky.Copies((), {
            f'compute-{number:04}.example.org':
                _keys(f'store={number % 4}:60') for number in range(1000)}))
        self.assertLess(len(text), 6000)

    @ddt.data('', 'x', 'AAAA', '{}', *(
        base64.b64encode(zlib.compress(json.dumps(each).encode())).decode()
        for each in (None, [], {}, {'kept': []}, *(
            {'kept': [], 'offered': [], 'start': None} | wrong for wrong in (
                {'kept': 1}, {'kept': ['store']}, {'kept': [1]},
                {'offered': [1]}, {'offered': [[['a=1'], ['h']]]},
                {'offered': [[[], [['h']]]]}, {'start': 1},
                {'start': ['a', 'b', 'c']})))),
        base64.b64encode(zlib.compress(b'[' * 100_000)).decode())
    def test_rubbish(self, text):
        self.assertRaisesRegex(
            exception.InvalidValue, 'Record of sticky', sticky.loads, text)

    @ddt.data('!', '\n', ' ')
    def test_what_is_no_letter_of_the_record(self, more):
        text = sticky.dumps(sticky.Copies(_keys('store=1:60')))
        self.assertRaises(
            exception.InvalidValue, sticky.loads, text[:4] + more + text[4:])
