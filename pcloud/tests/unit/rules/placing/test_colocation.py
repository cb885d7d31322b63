# SPDX-License-Identifier: Apache-2.0

import testscenarios
import testtools

from pcloud import exception
from pcloud.rules.placing import colocation

SERVER = '5e6d7c8b-1a2b-4c3d-8e9f-0a1b2c3d4e5f'


class WishTest(testscenarios.WithScenarios, testtools.TestCase):

    scenarios = [(str(hints), {'hints': hints, 'expected': expected})
                 for hints, expected in (
        (None, {}),
        ({'pcloud': ['x']}, {}),
        ({'service': 'web'}, {'service': 'web'}),
        ({'service': ['web']}, {'service': 'web'}),
        ({'in': ['web']}, {'parent': 'web'}),
        ({'in': SERVER}, {'parent': SERVER}),
        ({'with': 'web'}, {'coming': 'web'}),
        ({'beside': [SERVER]}, {'beside': (SERVER,)}),
        ({'room_for': ['m1.small', 'm1.small']},
         {'room_for': (colocation.Companion('m1.small'),) * 2}),
        ({'room_for': 'm1.small:volume'},
         {'room_for': (colocation.Companion('m1.small', True),)}))]

    def test(self):
        self.assertEqual(colocation.Wish(**self.expected),
                         colocation.wish(self.hints))


class AskedTest(testtools.TestCase):

    def test_what_a_wish_asks_for(self):
        """Co-located, in need of some hosts, and the services followed."""
        for asked, expected in (
                ({}, (False, False, ())),
                ({'service': 'web'}, (False, False, ())),
                ({'in': 'db'}, (True, True, ('db',))),
                ({'with': 'web'}, (True, False, ('web',))),
                ({'in': 'db', 'with': 'web'}, (True, True, ('web', 'db'))),
                ({'beside': SERVER}, (False, True, ())),
                ({'room_for': '1'}, (False, True, ()))):
            wish = colocation.wish(asked)
            self.assertEqual(expected, (
                wish.is_co_located, wish.needs_some_hosts, wish.followed))

    def test_most_values(self):
        most = ['1'] * 100
        self.assertEqual(100, len(colocation.wish(
            {'room_for': most}).room_for))
        self.assertRaisesRegex(
            exception.InvalidValue, 'at most 100 texts', colocation.wish,
            {'room_for': [*most, '1']})


class WrongWishTest(testscenarios.WithScenarios, testtools.TestCase):

    scenarios = [(str(hints), {'hints': hints, 'expected': expected})
                 for hints, expected in (
        ({'service': SERVER}, 'no uuid'),
        ({'service': SERVER.upper()}, 'no uuid'),
        ({'with': SERVER}, 'no uuid'), ({'with': SERVER.upper()}, 'no uuid'),
        ({'in': SERVER.upper()}, 'the id of a server in small letters'),
        ({'beside': [SERVER, SERVER.upper()]}, 'the id of a server'),
        ({'service': 'a b'}, "'a b' is not right; it has to be 1 to 64"),
        ({'service': ['a', 'b']}, 'given once'),
        ({'in': []}, 'Scheduler hint in: '),
        ({'in': '..'}, '1 to 64 letters'), ({'with': ''}, 'texts'),
        ({'room_for': 'm1.small:disk'}, 'the id of a flavor'),
        ({'room_for': ':volume'}, 'the id of a flavor'),
        ({'beside': 'web'}, 'the id of a server'))]

    def test(self):
        error = self.assertRaises(exception.InvalidValue,
                                  colocation.wish, self.hints)
        (name, given), = self.hints.items()
        wrong = given[-1] if isinstance(given, list) and given else given
        self.assertIn(f'Scheduler hint {name}: ', str(error))
        self.assertIn(wrong or '', error.details['value'])
        self.assertIn(self.expected, str(error))


class CompanionTest(testtools.TestCase):

    def test_is_written_as_it_is_read(self):
        for text in 'm1.small', 'm1.small:volume':
            self.assertEqual(text, str(colocation.companion(text)))


class NameTest(testtools.TestCase):

    def test_what_a_text_is(self):
        for text, is_service, is_server in (
                ('web', True, False), ('web-1.2_x', True, False),
                ('x' * 64, True, False), ('x' * 65, False, False),
                ('', False, False), ('.', False, False),
                ('..', False, False), ('...', True, False),
                ('a/b', False, False), ('web\n', False, False),
                (SERVER, False, True), (SERVER.upper(), False, False),
                (SERVER.title(), False, False),
                (SERVER.replace('-', ''), True, False),
                (f'{{{SERVER}}}', False, False)):
            self.assertEqual(
                (is_service, is_server),
                (colocation.is_service(text), colocation.is_server(text)),
                text)


class FlagTest(testscenarios.WithScenarios, testtools.TestCase):

    scenarios = [(f'{spec},{image}', {'spec': spec, 'image': image,
                                      'expected': expected})
                 for spec, image, expected in (
        (None, None, 'never'), ('allow', None, 'allow'),
        (None, 'always', 'always'), ('never', 'always', 'never'),
        ('always', 'allow', 'always'), ('maybe', 'allow', 'never'),
        ('allow', 'maybe', 'allow'), (None, 'maybe', 'never'),
        ('', 'allow', 'never'), ('maybe', 7, 'never'))]

    def test(self):
        self.assertEqual(
            self.expected, colocation.flag(self.spec, self.image))


class CheckTest(testtools.TestCase):

    def test_who_may_start(self):
        for permission, co_located, alone in (
                ('allow', True, True), ('always', True, False),
                ('never', False, True)):
            self.assertEqual((co_located, alone), (
                colocation.is_permitted(permission, True),
                colocation.is_permitted(permission, False)), permission)

    def test_table(self):
        alone = colocation.Wish(service='x', beside=(SERVER,))
        for wish in (colocation.Wish(parent='web'),
                     colocation.Wish(coming='web')):
            for permission in ('allow', 'always'):
                colocation.check(wish, permission)
            self.assertRaisesRegex(
                exception.Invalid, "may not be co-located with 'web'",
                colocation.check, wish, 'never')
        for permission in ('allow', 'never'):
            colocation.check(alone, permission)
        self.assertRaisesRegex(
            exception.Invalid, 'can only be co-located', colocation.check,
            alone, 'always')

    def test_flag(self):
        self.assertEqual('allow', colocation.check_flag('allow'))
        self.assertRaisesRegex(
            exception.InvalidValue,
            "Co-located flag: 'Allow' .* one of allow, always, never",
            colocation.check_flag, 'Allow')
