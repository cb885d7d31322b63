# SPDX-License-Identifier: Apache-2.0

"""Which hosts locality keeps."""

import ddt
from hypothesis import given
from hypothesis import strategies as st
from oslotest import base

from pcloud import exception
from pcloud.rules.placing import locality

RACKS = {'a1': 'a', 'a2': 'a', 'b1': 'b', 'b2': 'b', 'c1': None}
HOSTS = list(RACKS)
SERVER = '0f8e9d7c-6b5a-4938-8271-605f4e3d2c1b'

some = st.lists(st.sampled_from(HOSTS), max_size=3)


class WishTest(base.BaseTestCase):

    def test_none(self):
        for hints in (None, {}, {'locality': ['strict']}, {'near': []}):
            self.assertIsNone(locality.wish(hints))

    def test_all(self):
        found = locality.wish({'near': [SERVER, 'tag:web'],
                               'far': ['tag:db', 'what?'],
                               'locality': ['strict']})
        self.assertTrue(found.strict)
        self.assertEqual({'web', 'db'}, found.tags())
        self.assertEqual({SERVER}, found.servers())
        known = locality.Known({SERVER: ['a1'], 'tag:web': ['a1', 'b1'],
                                'tag:db': []})
        self.assertEqual(['a1', 'a1', 'b1'], known.hosts(found.near))

    def test_one_of_the_two(self):
        self.assertEqual(locality.Wish((SERVER,), (), False),
                         locality.wish({'near': [SERVER], 'far': []}))
        self.assertEqual(locality.Wish((), ('tag:db',), False),
                         locality.wish({'far': [locality.tag('db')]}))

    def test_an_id_has_small_letters(self):
        found = locality.wish({'near': [SERVER.upper(), SERVER],
                               'far': [SERVER.upper()]})
        self.assertEqual(((SERVER.upper(), SERVER), (SERVER.upper(),)),
                         (found.near, found.far))
        self.assertEqual({SERVER}, found.servers())
        known = locality.Known({SERVER: ['a1']})
        self.assertEqual([], known.hosts(found.far))
        self.assertRaises(exception.LocalityUnknown, locality.check_known,
                          locality.Wish((), found.far, True), known)

    def test_a_locality_that_does_not_exist(self):
        error = self.assertRaises(
            exception.InvalidValue, locality.wish,
            {'far': ['tag:db'], 'locality': ['Strict']})
        self.assertIn("locality: 'Strict' is not right; it has to be 'strict'",
                      str(error))


class CheckTest(base.BaseTestCase):

    def test_names_of_servers(self):
        locality.check({})
        for value in (SERVER, SERVER.upper(), 'tag:web', 'tag: ', [],
                      [SERVER, 'tag:web']):
            locality.check({'near': value, 'far': value})

    def test_other_names(self):
        for value in ('web-1', '', 'tag:', 'Tag:web', f'{{{SERVER}}}', 1,
                      None, [None], [SERVER, ''], {'tag': 'web'}):
            for name in ('near', 'far'):
                error = self.assertRaises(
                    exception.InvalidValue, locality.check,
                    {name: value})
                wrong = value[-1] if isinstance(value, list) else value
                self.assertIn(
                    f"hint {name}: '{wrong}' is not right; it has to be the "
                    'id of a server', str(error))

    def test_localities(self):
        locality.check({'locality': ['strict', 'strict']})
        for value in ('', 'STRICT', None, True, ['strict', 'hard']):
            wrong = value[-1] if isinstance(value, list) else value
            self.assertRaisesRegex(
                exception.InvalidValue,
                f"hint locality: '{wrong}' .* 'strict', or left out",
                locality.check, {'locality': value})


class CheckKnownTest(base.BaseTestCase):

    known = locality.Known({SERVER: [], 'tag:web': ['a1'], 'tag:db': []})

    def _missing(self, near, far):
        wish = locality.Wish(tuple(near), tuple(far), True)
        error = self.assertRaises(exception.LocalityUnknown,
                                  locality.check_known, wish, self.known)
        return error.details['named']

    def test_all_are_there(self):
        locality.check_known(locality.Wish(
            ('tag:web',), (SERVER, 'tag:db', 'tag:web'), True), self.known)

    def test_not_there(self):
        self.assertEqual('what?', self._missing([], ['what?']))
        self.assertEqual('what?', self._missing(['what?'], ['what?']))

    def test_nothing_to_be_near_to(self):
        self.assertEqual(f'{SERVER}, tag:db',
                         self._missing([SERVER, 'tag:db', 'tag:web'], []))


@ddt.ddt
class KeptTest(base.BaseTestCase):

    def _kept(self, candidates, near, far, strict):
        return ' '.join(locality.passing_hosts(
            candidates.split(), RACKS, near.split(), far.split(), strict))

    @ddt.data(
        # candidates, near, far, what is kept
        ('a1 a2 b1', 'a1', '', 'a1'), ('a1 a2 b1', 'a1 b1', '', 'a1 b1'),
        ('a2 b1 c1', 'a1', '', 'a2'), ('b1 c1', 'a1', '', 'b1 c1'),
        ('a1 a2 b1', '', 'a1', 'b1'), ('a1 a2', '', 'a1', 'a2'),
        ('a1', '', 'a1', 'a1'), ('a1 c1', '', 'a1', 'c1'),
        # Far comes first.
        ('a1 a2 b1', 'a1', 'a1', 'b1'), ('a1 a2', 'a1', 'a1', 'a2'),
        ('a1 a2 b1', 'a2', 'a1', 'b1'), ('c1', 'c1', '', 'c1'))
    @ddt.unpack
    def test_preference(self, candidates, near, far, expected):
        self.assertEqual(expected, self._kept(candidates, near, far, False))

    @ddt.data(
        ('a1 a2 b1', 'a1', '', 'a1'), ('a1 a2 b1', 'a1 a2', '', 'a1 a2'),
        ('a1 a2 b1', 'a1', '', 'a1'), ('a2 b1', 'a1', '', 'a2'),
        # In one rack, and not in two; c1 is in none that is known.
        ('a1 a2 b1 c1', 'a1 b1', '', ''), ('a1 a2 b1 c1', 'a1 c1', '', ''),
        ('a1 b1', 'a2 a2', '', 'a1'), ('c1', 'a1 b1', '', ''),
        ('b1 c1', 'a1', '', ''), ('b1', 'c1', '', ''),
        ('a1 a2 b1', '', 'a1', 'b1'), ('a1 a2', '', 'a1', 'a2'),
        ('a1', '', 'a1', ''), ('a1 b1', 'a1', 'a1', ''),
        ('a1 a2 b1', 'a1 a1', 'b1', 'a1'),
        # Another rack is only preferred.
        ('a1 a2 b1', 'a2', 'a1', 'a2'))
    @ddt.unpack
    def test_strict(self, candidates, near, far, expected):
        self.assertEqual(expected, self._kept(candidates, near, far, True))

    @ddt.data(
        ('a1 a2 b1', '', 'a1', False, ['a2 b1', 'b1', 'b1']),
        ('a1 a2 b1 c1', 'b1', 'a1', False, ['a2 b1 c1', 'b1 c1', 'b1']),
        ('a1 a2 b1', 'a2', 'a1', True, ['a2 b1', 'a2', 'a2']))
    @ddt.unpack
    def test_where_hosts_fall(self, candidates, near, far, strict, expected):
        found = locality.stages(candidates.split(), RACKS, near.split(),
                                far.split(), strict)
        self.assertEqual(expected, [' '.join(left) for _, left in found])
        self.assertEqual(
            {locality.ON_FAR, locality.IN_FAR_RACK, locality.NOT_NEAR},
            {text for text, _ in found})

    def _every_stage_is_part_of_the_last(self, there, near, far, strict):
        before = there
        for _, left in locality.stages(there, RACKS, near, far, strict):
            self.assertLessEqual(set(left), set(before))
            before = left

    @given(st.permutations(HOSTS), some, some)
    def test_a_preference_never_leaves_nothing(self, candidates, near, far):
        for number in range(1, len(candidates)):
            there = candidates[:number]
            found = locality.passing_hosts(there, RACKS, near, far, False)
            self._every_stage_is_part_of_the_last(there, near, far, False)
            self.assertTrue(found)
            self.assertEqual(found, [each for each in there
                                     if each in set(found)])

    @given(st.permutations(HOSTS), some, some)
    def test_hosts_that_fill_up_leave_what_a_single_server_gets(
            self, candidates, near, far):
        levels = dict(zip(candidates, locality.levels(
            candidates, RACKS, near, far), strict=True))
        while candidates:
            found = locality.passing_hosts(
                candidates, RACKS, near, far, False)
            best = min(levels[host] for host in candidates)
            self.assertEqual(found, [host for host in candidates
                                     if levels[host] == best])
            candidates.remove(found[0])

    @given(st.permutations(HOSTS), some, some)
    def test_strict_hosts_that_fill_up_leave_what_a_single_server_gets(
            self, candidates, near, far):
        levels = dict(zip(candidates, locality.strict_levels(
            candidates, RACKS, near, far), strict=True))
        while candidates:
            found = locality.passing_hosts(candidates, RACKS, near, far, True)
            allowed = {host: levels[host] for host in candidates
                       if levels[host] is not None}
            best = min(allowed.values(), default=None)
            self.assertEqual(found, [host for host in candidates
                                     if host in allowed and
                                     allowed[host] == best])
            if not found:
                break
            candidates.remove(found[0])

    @given(st.permutations(HOSTS), some, some)
    def test_strict_means_it(self, candidates, near, far):
        found = locality.passing_hosts(candidates, RACKS, near, far, True)
        self._every_stage_is_part_of_the_last(candidates, near, far, True)
        self.assertFalse(set(found) & set(far))
        if near and found:
            # One host with all, or the one rack of all.
            self.assertTrue(
                set(found) == set(near) or
                {RACKS[host] for host in found} ==
                {RACKS[host] for host in near})
            self.assertEqual(1, len({RACKS[host] for host in found}))
