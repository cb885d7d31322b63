# SPDX-License-Identifier: Apache-2.0

import importlib

import ddt
import hypothesis
from hypothesis import strategies
import testtools

from pcloud import exception
from pcloud.rules import forms
from pcloud.rules.placing import affinity
from pcloud.rules.placing import colocation
from pcloud.rules.placing import hints
from pcloud.rules.placing import locality
from pcloud import text

ID = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'
OTHER = '9d0a8c1e-7b2f-4a3c-8e5d-6f7a8b9c0d1e'


def _own_keys(said):
    return affinity.distinct(said['placement_key'], affinity.check_customer)


# Hint to the function that reads the hint, and to two values that are right.
READ = {
    'pcloud': (hints.pcloud_id, [ID, OTHER]),
    'pcloud_prefer': (hints.preferred_id, [ID, OTHER]),
    'pcloud_host': (hints.host_name, ['web-1', 'db']),
    'placement_key': (_own_keys, ['A=1:1', 'B=1:1']),
    'constraints': (hints.constraints, ['cpu=1', 'ram=1G']),
    'near': (locality.wish, [ID, 'tag:web']),
    'far': (locality.wish, [ID, 'tag:web']),
    'locality': (locality.wish, ['strict', 'strict']),
    'service': (colocation.wish, ['web', 'db']),
    'in': (colocation.wish, ['web', ID]),
    'with': (colocation.wish, ['web', 'db']),
    'beside': (colocation.wish, [ID, OTHER]),
    'room_for': (colocation.wish, ['1', '2']),
}


class TableTest(testtools.TestCase):

    def test_every_hint_is_there_once(self):
        self.assertEqual(
            [*READ, '_pcloud_customer_keys', '_pcloud_image_keys',
             '_pcloud_device_keys',
             '_pcloud_device_system_keys', '_pcloud_image_constraints',
             '_pcloud_domain', '_pcloud_grow'],
            [each.name for each in hints.TABLE])
        self.assertEqual(tuple(READ), hints.GIVEN)

    def test_domain(self):
        """A domain is read as it was recorded, or not recorded."""
        for domain, recorded in (
                ('d1', ['d1']), ('', ['']), (hints.DEFAULT_DOMAIN, [])):
            self.assertEqual(recorded, hints.domain_record(domain))
            self.assertEqual(
                domain, hints.domain({hints.DOMAIN_RECORD: recorded}))
            self.assertEqual(domain, hints.domain_id(domain))
        self.assertEqual(hints.DEFAULT_DOMAIN, hints.domain({}))
        self.assertEqual(hints.DEFAULT_DOMAIN, hints.domain_id(None))

    def test_rules_are_modules(self):
        for each in hints.TABLE:
            self.assertTrue(each.rules and each.readers, each)
            for name in each.rules:
                importlib.import_module(f'pcloud.rules.placing.{name}')

    def test_what_repeats(self):
        for each in hints.TABLE:
            if each.recorded:
                continue
            read, values = READ[each.name]
            read({each.name: values[:1]})
            if each.repeats:
                read({each.name: values})
            else:
                self.assertRaises(exception.Invalid, read,
                                  {each.name: values})

    def test_for_which_only_some_hosts_will_do(self):
        self.assertEqual({'pcloud', 'pcloud_host', 'near', 'far', 'in',
                          'with', 'beside', 'room_for'}, hints.NARROWING)

    def test_what_users_cannot_give(self):
        for each in hints.TABLE:
            self.assertIs(each.recorded, hints.is_record(each.name), each)
        self.assertTrue(hints.is_record('_pcloud_of_a_later_version'))

    def test_text_that_no_database_keeps(self):
        for name in hints.GIVEN:
            for value in ('\ud800', ['web', 'x\udfff']):
                self.assertRaisesRegex(
                    exception.InvalidValue,
                    rf"hint {name}: '.*\\ud.* without a surrogate",
                    hints.check_text, {name: value})
        hints.check_text({name: ['\U0001f600', 7, None]
                          for name in hints.GIVEN})
        hints.check_text({'group': '\ud800'})


@ddt.ddt
class PcloudIdTest(testtools.TestCase):

    @ddt.data(None, {}, {'group': ['x']}, {'Pcloud': [ID]})
    def test_no_hint(self, given):
        self.assertIsNone(hints.pcloud_id(given))

    @ddt.data([ID], ID)
    def test_one_id(self, value):
        self.assertEqual(ID, hints.pcloud_id({'pcloud': value}))

    @ddt.data(
        None, [], '', [''], ['web'], [ID, ID], [ID, 'x'], [ID.upper()],
        [ID.replace('-', '')], [f' {ID}'], [f'{ID}\n'], [f'{{{ID}}}'],
        [f'urn:uuid:{ID}'], [None], [7], [[ID]], [{'id': ID}], ['%'],
        [f'{ID},{ID}'], ["' or 1=1"], [ID[:-1]], [ID + '0'],
        ['３f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'])
    def test_anything_else_is_refused(self, value):
        error = self.assertRaises(
            exception.InvalidHint, hints.pcloud_id, {'pcloud': value})
        self.assertIn('the id of one Pcloud, once', str(error))

    def test_what_is_told(self):
        for name, read in (('pcloud', hints.pcloud_id),
                           ('pcloud_prefer', hints.preferred_id)):
            for value, shown in (
                    (None, None), ([], ''), ('web', 'web'),
                    ([ID, 7], f'{ID},7')):
                error = self.assertRaises(
                    exception.InvalidHint, read, {name: value})
                self.assertEqual({'name': name, 'value': shown},
                                 error.details)

    @hypothesis.given(strategies.lists(strategies.text() |
                                       strategies.uuids().map(str)))
    def test_only_a_single_well_formed_id_passes(self, values):
        try:
            found = hints.pcloud_id({'pcloud': values})
        except exception.InvalidHint:
            self.assertFalse(
                len(values) == 1 and forms.is_uuid(values[0]))
        else:
            self.assertEqual([found], values)


@ddt.ddt
class ValuesTest(testtools.TestCase):
    """What a request spec can keep goes to the scheduler, right or not."""

    @ddt.data(ID, [ID], 'none', 7, [7.5, True], [], ['x', ''])
    def test_kept(self, value):
        hints.check_values({'pcloud': value})

    @ddt.data((None, 'None'), ({'id': ID}, f"{{'id': '{ID}'}}"),
              ([ID, [7]], rf'{ID},\[7\]'))
    @ddt.unpack
    def test_refused(self, value, shown):
        self.assertRaisesRegex(
            exception.InvalidHint, f"pcloud.*{shown}", hints.check_values,
            {'pcloud': value})

    def test_a_name_of_a_host(self):
        hints.check_values({'pcloud': ID, 'pcloud_host': 'web-1'})
        hints.check_values({'pcloud_host': ['web-1']})
        self.assertRaisesRegex(
            exception.InvalidValue, 'hint pcloud_host: ', hints.check_values,
            {'pcloud': ID, 'pcloud_host': 'a b'})

    def test_a_number_is_kept_as_text(self):
        self.assertEqual('7', hints.host_name({'pcloud_host': [7]}))


class ConstraintsTest(testtools.TestCase):

    def test_one_text_or_none(self):
        for given, expected in (
                (None, ''), ({}, ''), ({'pcloud': [ID]}, ''),
                ({'constraints': 'cpu=1'}, 'cpu=1'),
                ({'constraints': ['cpu=1 ram=1G']}, 'cpu=1 ram=1G'),
                ({'constraints': ['']}, '')):
            self.assertEqual(expected, hints.constraints(given))
        for value in ([], ['cpu=1', 'ram=1G'], [7], 7, None):
            self.assertRaisesRegex(
                exception.Invalid, 'takes one text with all pairs in it',
                hints.constraints, {'constraints': value})

    def test_those_of_an_image(self):
        record = hints.IMAGE_CONSTRAINTS_RECORD
        for given, expected in (
                ({}, ''), ({record: []}, ''), ({record: ['cpu=2']}, 'cpu=2'),
                ({'constraints': ['cpu=1']}, '')):
            self.assertEqual(expected, hints.image_constraints(given))


@ddt.ddt
class HostNameTest(testtools.TestCase):

    def test_no_hint(self):
        for given in (None, {}, {'pcloud': [ID]}):
            self.assertIsNone(hints.host_name(given))

    @ddt.data('web-1', ['web-1'])
    def test_one_name(self, given):
        self.assertEqual('web-1', hints.host_name({'pcloud_host': given}))

    @ddt.data(None, [], '', 'a b', ['a', 'b'], ['.'], [{'a': 'b'}], ['a\n'],
              'a' * 64)
    def test_anything_else_is_refused(self, given):
        self.assertRaises(exception.InvalidValue, hints.host_name,
                          {'pcloud_host': given})

    def test_no_host_without_a_pcloud(self):
        host = {'pcloud_host': ['web-1']}
        self.assertEqual(ID, hints.pcloud_id({**host, 'pcloud': [ID]}))
        hints.require_pcloud({**host, 'pcloud': [ID]})
        for read, given in (
                (hints.pcloud_id, host),
                (hints.pcloud_id, {**host, 'pcloud': ['none']}),
                (hints.places, host), (hints.require_pcloud, host),
                (hints.preferred_id, {**host, 'pcloud_prefer': [ID]}),
                (hints.check_values, {**host, 'pcloud': 'none'}),
                (hints.check_values, {**host, 'pcloud_prefer': ID})):
            self.assertRaises(exception.InvalidHint, read, given)


# What a name of a hint was meant for: the table of `hints.meant`.
MEANT = [
    ('near', None), ('pcloud', None), ('pcloud_prefer', None),
    ('Near', 'near'), (' near', 'near'), ('PCLOUD', 'pcloud'),
    ('pcloud_host', None), ('pcloud-host', 'pcloud_host'),
    ('PCLOUD-HOST', 'pcloud_host'), ('pcloud\u2010prefer', 'pcloud_prefer'),
    ('room-for', None), ('placement-key', None), ('pcloud-hosts', None),
    ('Pcloud_Prefer', 'pcloud_prefer'), ('pcloud ', 'pcloud'),
    ('\tpcloud\n', 'pcloud'), ('p cloud', 'pcloud'),
    ('\uff50\uff43\uff4c\uff4f\uff55\uff44', 'pcloud'),
    ('pcloud\u200b', 'pcloud'), ('\ufeffpcloud', 'pcloud'),
    ('pclod', 'pcloud'), ('cloud', 'pcloud'), ('pclou', 'pcloud'),
    ('pclloud', 'pcloud'), ('ppcloud', 'pcloud'), ('pcloudd', 'pcloud'),
    ('pcluod', 'pcloud'), ('cploud', 'pcloud'), ('pcloDU', 'pcloud'),
    ('pcl0ud', 'pcloud'), ('xcloud', 'pcloud'), ('pcloux', 'pcloud'),
    ('group', None), ('nearer', None), ('nera', None), ('', None),
    ('clouds', None), ('pclouds', None), ('pcloud_', None), ('pcuold', None),
    ('clodu', None), ('plcuod', None), ('_pcloud_domain', None),
    ('loud', None), ('pcloudxx', None)]


@ddt.ddt
class NamesTest(testtools.TestCase):

    @ddt.data(*MEANT)
    @ddt.unpack
    def test_what_was_meant(self, name, meant):
        self.assertEqual(meant, hints.meant(name))
        if meant is None:
            hints.check_names([name], [])
            return
        error = self.assertRaises(
            exception.InvalidValue, hints.check_names, ['query', name], [])
        self.assertIn(f"'{text.shown(name)}' is not right; "
                      f"it has to be '{meant}'", str(error))
        hints.check_names([name], ['other', name])

    @hypothesis.given(strategies.sampled_from(hints.GIVEN),
                      strategies.lists(strategies.booleans(), min_size=20,
                                       max_size=20))
    def test_letter_case(self, name, capitals):
        spelled = ''.join(
            letter.upper() if capital else letter
            for letter, capital in zip(name, capitals))
        self.assertEqual(None if spelled == name else name,
                         hints.meant(spelled))

    @hypothesis.given(strategies.text(
        alphabet='pcloudx', min_size=4, max_size=8))
    def test_one_letter_off(self, name):
        right = hints.PCLOUD
        places = range(len(right))
        nearly = {right[:place] + right[place + 1:] for place in places}
        nearly |= {right[:place] + right[place] + right[place:]
                   for place in places}
        nearly |= {right[:place] + letter + right[place + 1:]
                   for place in places for letter in 'pcloudx'}
        nearly |= {right[:place] + right[place + 1] + right[place] +
                   right[place + 2:] for place in places[:-1]}
        self.assertEqual(right if name in nearly - {right} else None,
                         hints.meant(name))
        for each in nearly - {right}:
            self.assertEqual(right, hints.meant(each))

    @hypothesis.given(strategies.text())
    def test_any_text(self, name):
        self.assertIn(hints.meant(name), (None, *hints.GIVEN))
