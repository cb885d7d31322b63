# SPDX-License-Identifier: Apache-2.0

"""What the API says, as users read it."""

import re
import unittest

import ddt
from django.utils import translation

from pcloud.client import exceptions
from pcloud import exception
from pcloud.rules import coded
from pcloud import text
from pcloud_dashboard.words import reasons
from pcloud_dashboard.words import refusals


@ddt.ddt
class RefusalsTest(unittest.TestCase):

    @ddt.data(
        ('It is in use.', 'It is in use.'),
        ('Invalid input for field/attribute pcloud.cpu_allocation_ratio. '
         'Value -1 is not right; it has to be a ratio',
         'Value -1 is not right; it has to be a ratio'),
        ('Invalid input: it is empty', 'it is empty'),
        ('MEMORY_MB: requested 4, but VCPU_X',
         'memory (MiB): requested 4, but VCPU_X'))
    @ddt.unpack
    def test_plain(self, message, expected):
        error = exceptions.Conflict(message, 409, 'req-1')

        self.assertEqual(expected, refusals.plain(error))
        self.assertEqual('Request req-1', refusals.reference(error))
        self.assertIsNone(refusals.reference(exceptions.Conflict('no')))


class GermanRefusalsTest(unittest.TestCase):

    def setUp(self):
        super().setUp()
        self.enterContext(translation.override('de'))

    def plain(self, error):
        return refusals.plain(exceptions.Conflict(str(error), 409))

    def test_each_with_what_is_in_it(self):
        for each in refusals.TEXTS:
            holes = re.findall(r'%\((\w+)\)([sd])', each)
            values = {name: 700 + number if kind == 'd' else f'<{name}>'
                      for number, (name, kind) in enumerate(holes)}
            told = refusals.translated(each % values)

            self.assertNotEqual(each % values, told)
            self.assertNotIn('%(', told)
            for value in values.values():
                self.assertIn(str(value), told)

    def test_a_zone_is_no_name(self):
        self.assertEqual(
            'Von der Host-Variante „gold“ ist in der Verfügbarkeitszone '
            '„az1“ kein Host frei.', self.plain(exception.NoFreeHost(
                host_flavor='gold', zone=text.in_zone('az1'))))
        self.assertEqual(
            'Von der Host-Variante „gold“ ist kein Host frei.',
            self.plain(exception.NoFreeHost(host_flavor='gold', zone='')))

    def test_a_name_stays_as_it_is(self):
        name = str(exception.PcloudInUse(pcloud='x'))

        self.assertEqual(f'Die Variante „{name}“ wurde nicht gefunden.',
                         self.plain(exception.FlavorNotFound(flavor=name)))

    def test_what_a_newer_api_says(self):
        self.assertEqual('It is odd.', self.plain('It is odd.'))

    def test_english_is_what_the_api_says(self):
        error = exception.PcloudNotFound(pcloud='x')
        with translation.override('en-gb'):
            self.assertEqual(str(error), self.plain(error))


# What makes the words of each code that has a function.
PARAMS = {
    'flavor_not_allowed': {'flavor': 'f', 'allowed': 'g', 'more': 2},
    'image_not_allowed': {'image': 'f', 'allowed': 'g', 'more': 0},
    'volume_not_allowed': {'allowed': '', 'more': 0},
    'too_little': {'resource': 'MEMORY_MB', 'left': 1, 'needed': 2},
    'no_room': {'needed': '2 VCPU'},
    'no_worker': {'since': None},
    'its_flavor_unplanned': {'doubt': 'groups'},
    'flavor_unplanned': {'flavor': 'f', 'doubt': 'colocation'},
    'no_host_up': {'beside': 'x'},
    'no_more_groups': {'hosts': 2, 'needed': 'x'},
    'server_stays': {'server': 'a', 'why': 'locked'},
    **{code: {'servers': 2} for code in (
        'servers_unknown', 'servers_with_hints', 'servers_with_devices',
        'servers_with_sticky_keys')}}


class _Any(dict):
    """Params of which each has the value that the name says."""

    def __missing__(self, name):
        return f'({name})'


class ReasonsTest(unittest.TestCase):

    def test_each_code_has_words(self):
        self.assertEqual(
            sorted(set(coded.WORDS) - {'in_words'}), sorted(reasons.WORDS))

    def test_the_words_are_those_of_the_api(self):
        for code, words in coded.WORDS.items():
            if isinstance(words, str) and code != 'in_words':
                params = _Any()
                self.assertEqual(
                    words.format_map(params),
                    str(reasons.WORDS[code]) % params, code)

    def test_german(self):
        with translation.override('de'):
            for code, words in reasons.WORDS.items():
                english = str(coded.Reason(code, **PARAMS[code])) if (
                    callable(words)) else coded.WORDS[code]
                said = reasons.of(code, PARAMS.get(code, {}), english)
                self.assertTrue(said)
                if callable(words):
                    self.assertNotEqual(english, said)
            self.assertEqual('er ist ausgefallen',
                             reasons.of('host_down', {}, 'it is down'))
            self.assertEqual(
                '512 MiB Arbeitsspeicher übrig, 1024 MiB Arbeitsspeicher '
                'nötig', reasons.of('too_little', {
                    'resource': 'MEMORY_MB', 'left': 512, 'needed': 1024},
                    'too little'))

    def test_english_is_what_the_api_says(self):
        self.assertEqual('2 vCPUs are left', reasons.of(
            'too_little', {}, '2 VCPU are left'))

    def test_what_a_newer_api_says(self):
        with translation.override('de'):
            self.assertEqual('it is odd', reasons.of('odd', {}, 'it is odd'))
            self.assertEqual('it is odd', reasons.of(
                'too_little', {}, 'it is odd'))
            self.assertEqual('it is odd', reasons.of_body(
                {'reason': 'it is odd'}))
