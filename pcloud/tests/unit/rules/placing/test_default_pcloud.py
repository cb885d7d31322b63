# SPDX-License-Identifier: Apache-2.0

import ddt
import testtools

from pcloud import exception
from pcloud.rules.placing import default_pcloud
from pcloud.rules.placing import hints

ID = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'
STRICT = {'pcloud': ID, 'mode': 'strict'}


@ddt.ddt
class DefaultTest(testtools.TestCase):

    def test_what_is_written_is_read(self):
        for mode, hint in (('strict', 'pcloud'), ('prefer', 'pcloud_prefer')):
            value = {'pcloud': ID, 'mode': mode}
            default = default_pcloud.read(default_pcloud.written(value))
            self.assertEqual(default_pcloud.Default(**value), default)
            self.assertEqual({hint: [ID]}, default.hint)
        self.assertIsNone(default_pcloud.read(default_pcloud.written(None)))

    def test_growth(self):
        value = {'pcloud': ID, 'mode': 'grow', 'host_flavor': 'gpu',
                 'max_hosts': 3}
        for zone in ({}, {'availability_zone': 'az 1'}):
            default = default_pcloud.read(
                default_pcloud.written({**value, **zone}))
            self.assertEqual({**value, **zone}, default.members)
            self.assertEqual({'pcloud': [ID], hints.GROW_RECORD: ['grow']},
                             default.hint)
            self.assertEqual(default_pcloud.Growth(
                'gpu', 3, zone.get('availability_zone')), default.growth)

    def test_numbers_of_hosts(self):
        """To JSON's schemas 2.0 is a whole number."""
        for number, stored in ((1, '1'), (2.0, '2'), (10000, '10000'),
                               (10000.0, '10000')):
            value = {'pcloud': ID, 'mode': 'grow', 'host_flavor': 'gpu',
                     'max_hosts': number}
            found = default_pcloud.written(value)
            self.assertEqual(stored, found['max_hosts'])
            self.assertEqual(
                number, default_pcloud.read(found).growth.most_hosts)

    def test_of_a_server_that_names_a_host(self):
        growth = default_pcloud.Growth('gpu', 3)
        for default in (default_pcloud.Default(ID, 'strict'),
                        default_pcloud.Default(ID, 'prefer'),
                        default_pcloud.Default(ID, 'grow', growth)):
            self.assertEqual(
                default_pcloud.Default(ID, 'strict'), default.strict)

    def test_who_has_set_it(self):
        """Stored in mode grow, read, and never shown."""
        setter = default_pcloud.Setter('alice', 'a' * 32)
        value = {'pcloud': ID, 'mode': 'grow', 'host_flavor': 'gpu',
                 'max_hosts': 3}
        stored = default_pcloud.written(value, setter)
        default = default_pcloud.read(stored)
        self.assertEqual(setter, default.growth.setter)
        self.assertEqual(value, default.members)
        self.assertEqual({**value, 'max_hosts': '3'},
                         default_pcloud.shown(stored))
        self.assertEqual(STRICT, default_pcloud.written(STRICT, setter))
        self.assertIsNone(default_pcloud.read(
            default_pcloud.written(value)).growth.setter)

    @ddt.data(
        {'host_flavor': None}, {'max_hosts': None}, {'mode': 'strict'},
        {'max_hosts': '0'}, {'max_hosts': '03'}, {'max_hosts': '10001'},
        {'max_hosts': 'x'}, {'max_hosts': '-1'}, {'max_hosts': '2.0'},
        {'host_flavor': '..'}, {'host_flavor': ''},
        {'availability_zone': ''}, {'zone': 'az1'}, {'user': ''},
        {'project': ''})
    def test_wrong_growth(self, change):
        value = {'pcloud': ID, 'mode': 'grow', 'host_flavor': 'gpu',
                 'max_hosts': '3', **change}
        self.assertRaisesRegex(
            exception.InvalidValue, 'Default Pcloud: ', default_pcloud.read,
            {name: text for name, text in value.items() if text is not None})

    @ddt.data(
        {}, {'mode': 'strict'}, {'pcloud': ID}, {'mode': 'none', 'pcloud': ID},
        {**STRICT, 'more': '1'}, {**STRICT, 'mode': 'STRICT'},
        {**STRICT, 'mode': ''}, {**STRICT, 'pcloud': ID.upper()},
        {**STRICT, 'pcloud': 'none'}, {**STRICT, 'pcloud': '\ud800'},
        {'mode': 'none '})
    def test_anything_else_is_unreadable(self, members):
        self.assertRaisesRegex(
            exception.InvalidValue, 'Default Pcloud: ', default_pcloud.read,
            members)

    @ddt.data(
        ('pcloud', 'x', 'the id of a Pcloud'),
        ('mode', 'x', 'strict, prefer, grow, none'),
        ('max_hosts', '0', 'a whole number from 1 to 10000'),
        ('x', 'y', 'left out: only pcloud, mode, '))
    @ddt.unpack
    def test_what_is_told_of_a_member(self, name, value, expected):
        error = self.assertRaises(
            exception.InvalidValue, default_pcloud.check, name, value)
        self.assertIn(f"Default Pcloud: '{name}={value}' is not right; it "
                      f'has to be {expected}', str(error))

    def test_the_most_specific_level_counts(self):
        nothing = default_pcloud.written(None)
        for levels, expected in (
                ([], None), ([('project', {}), ('cloud', {})], None),
                ([('project', {}), ('cloud', STRICT)], ('cloud', STRICT)),
                ([('project', nothing), ('cloud', STRICT)],
                 ('project', nothing)),
                ([('project', {'x': 'y'}), ('cloud', STRICT)],
                 ('project', {'x': 'y'}))):
            self.assertEqual(expected, default_pcloud.counting(levels))


class PlacesTest(testtools.TestCase):

    def test_places(self):
        for said, expected in (
                (None, {None}), ({}, {None}), ({'pcloud': [ID]}, {ID}),
                ({'pcloud': ID}, {ID}), ({'pcloud': ['none']}, {None}),
                ({'pcloud_prefer': [ID]}, {ID, None}),
                ({'pcloud_prefer': ID}, {ID, None})):
            self.assertEqual(expected, hints.places(said), said)

    def test_hints_that_open_no_host(self):
        for said in (
                {'pcloud': []}, {'pcloud': None}, {'pcloud': ['none'] * 2},
                {'pcloud': ['None']}, {'pcloud_prefer': ['none']},
                {'pcloud_prefer': []}, {'pcloud_prefer': None},
                {'pcloud_prefer': [ID, ID]},
                {'pcloud': [ID], 'pcloud_prefer': [ID]},
                {'pcloud': ['none'], 'pcloud_prefer': [ID]}):
            self.assertRaises(exception.InvalidHint, hints.places, said)
