# SPDX-License-Identifier: Apache-2.0

"""Text of others in one line."""

import logging

import ddt
import testtools

from pcloud.backend import complaints
from pcloud import exception
from pcloud import text


@ddt.ddt
class ShownTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data(
        ('', ''), ('plain text', 'plain text'), ('ä☃', 'ä☃'),
        ('a\nb', r'a\nb'), ('a\r\n\tb', r'a\r\n\tb'),
        ('\x00\x1b[31m', r'\x00\x1b[31m'), ('\u2028', r'\u2028'),
        ('\u202e', r'\u202e'), ('\ud800', r'\ud800'),
        ('\udfff!', r'\udfff!'), ('\U0001f600', r'\U0001f600'))
    def test_shown(self, given, shown):
        self.assertEqual(shown, text.shown(given))
        self.assertTrue(text.shown(given).encode('utf-8').isascii() or
                        given == shown)

    def test_encodable(self):
        self.assertTrue(text.is_encodable('a\n\U0001f600'))
        self.assertFalse(text.is_encodable('a\udc00'))
        self.assertTrue(text.is_askable('ä\uffff'))
        self.assertFalse(text.is_askable('\U0001f600'))
        self.assertFalse(text.is_askable('\ud800'))


class ErrorTest(testtools.TestCase):
    """An error of ours is one line that can be written anywhere."""

    def test_long_value(self):
        """What would be right stands within the first lines of a message."""
        for length, shown in ((100, 'x' * 100), (101, 'x' * 100 + '...')):
            error = exception.InvalidValue('Tag', 'x' * length, 'short')
            self.assertEqual(
                f"Tag: '{shown}' is not right; it has to be short.",
                str(error))

    def test_error(self):
        error = exception.InvalidHint(
            name='pcloud', value='x\nINFO all is well\ud800')
        self.assertIn(r'pcloud=x\nINFO all is well\ud800 ', str(error))
        self.assertEqual(str(error), str(error).encode().decode())

    def test_details_are_as_they_were(self):
        error = exception.InvalidHint(name='pcloud', value='x\n')
        self.assertEqual({'name': 'pcloud', 'value': 'x\n'}, error.details)

    def test_complaint_is_written_once_and_in_one_line(self):
        records = []
        handler = logging.Handler()
        handler.emit = lambda record: records.append(record.getMessage())
        complaints.LOG.logger.addHandler(handler)
        self.addCleanup(complaints.LOG.logger.removeHandler, handler)
        for _ in range(3):
            complaints.once('a key\nforged')
        self.assertEqual([r'a key\nforged'], records)


@ddt.ddt
class WordsTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data((0, '0 servers are'), (1, '1 server is'), (2, '2 servers are'),
              (21, '21 servers are'))
    def test_words(self, number, expected):
        self.assertEqual(expected, text.counted(
            number, 'server is', 'servers are'))
