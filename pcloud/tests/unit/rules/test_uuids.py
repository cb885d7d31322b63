# SPDX-License-Identifier: Apache-2.0

import ddt
import hypothesis
from hypothesis import strategies
import testtools

from pcloud.rules import hints
from pcloud.rules import uuids

ID = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'


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
        self.assertIs(is_uuid, uuids.is_uuid(text))
        self.assertIs(in_any_case, uuids.is_uuid_in_any_case(text))
        self.assertIs(is_uuid, hints.is_pcloud_id(text))

    @ddt.data(None, 7, [], [ID], {ID: ID}, ID.encode())
    def test_what_is_no_text(self, value):
        self.assertIs(False, uuids.is_uuid(value))

    @hypothesis.given(strategies.uuids())
    def test_what_python_writes(self, value):
        self.assertTrue(uuids.is_uuid(str(value)))
