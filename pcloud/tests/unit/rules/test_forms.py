# SPDX-License-Identifier: Apache-2.0

import re

import ddt
import hypothesis
from hypothesis import strategies
import testtools

from pcloud.rules import forms

ID = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'


@ddt.ddt
class FormsTest(testtools.TestCase):

    @ddt.data(
        # The name of a form, the longest text, and the characters beside
        # letters and digits.
        ('HOST_FLAVOR_ID', 64, '._-'), ('HOST_NAME', 63, '._-'),
        ('COMPUTE_HOST', 255, '._-'), ('FLAVOR_ID', 255, '._- '),
        ('SERVICE_OR_SERVER', 64, '._-'), ('ATTRIBUTE_NAME', 64, '._- '),
        ('SCOPE_ID', 64, '_-'))
    @ddt.unpack
    def test_lengths_and_characters(self, name, longest, others):
        form = re.compile(getattr(forms, name))
        self.assertIsNone(form.fullmatch(''))
        self.assertTrue(form.fullmatch('x' * longest))
        self.assertIsNone(form.fullmatch('x' * (longest + 1)))
        for number in range(0x250):
            each = chr(number)
            self.assertIs(
                number < 0x80 and each.isalnum() or each in others,
                form.fullmatch(f'a{each}9') is not None, ascii(each))

    @ddt.data('HOST_FLAVOR_ID', 'HOST_NAME', 'SERVICE_OR_SERVER',
              'ATTRIBUTE_NAME')
    def test_what_a_path_cannot_hold(self, name):
        form = re.compile(getattr(forms, name))
        for text, wanted in (('.', False), ('..', False), ('...', True),
                             ('.a', True), ('..a', True), ('a.', True)):
            self.assertIs(wanted, form.fullmatch(text) is not None, text)

    def test_an_attribute_has_no_blank_at_an_end(self):
        form = re.compile(forms.ATTRIBUTE_NAME)
        for text in (' ', ' a', 'a ', ' a '):
            self.assertIsNone(form.fullmatch(text), text)

    @ddt.data(
        ('0' * 32, True), ('0123456789abcdef' * 2, True), ('A' * 32, False),
        ('0' * 31, False), ('0' * 33, False), (ID, False), ('admin', False))
    @ddt.unpack
    def test_project_ids(self, text, is_id):
        self.assertIs(is_id, forms.is_project_id(text))

    @ddt.data(
        # The rows of the table.
        ('web', 3, 1, ['web-1', 'web-2', 'web-3']),
        ('web', 2, 9, ['web-9', 'web-10']))
    @ddt.unpack
    def test_numbered(self, beginning, count, first, names):
        self.assertEqual(names, forms.numbered(beginning, count, first))


@ddt.ddt
class UuidTest(testtools.TestCase):

    @ddt.data(
        # A text, whether the text is an id, whether any letter case is.
        (ID, True, True), (ID.upper(), False, True),
        (ID.title(), False, True), (ID.replace('-', ''), False, False),
        (f'{{{ID}}}', False, False), (f'urn:uuid:{ID}', False, False),
        (f'{ID}\n', False, False), (f' {ID}', False, False),
        (ID[:-1], False, False), (f'{ID}0', False, False),
        ('', False, False), ('web', False, False),
        ('３f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b', False, False))
    @ddt.unpack
    def test_forms(self, text, is_uuid, in_any_case):
        self.assertIs(is_uuid, forms.is_uuid(text))
        self.assertIs(in_any_case, forms.is_uuid_in_any_case(text))

    @ddt.data(None, 7, [], [ID], {ID: ID}, ID.encode())
    def test_what_is_no_text(self, value):
        self.assertIs(False, forms.is_uuid(value))

    @hypothesis.given(strategies.uuids())
    def test_what_python_writes(self, value):
        self.assertTrue(forms.is_uuid(str(value)))
