# SPDX-License-Identifier: Apache-2.0

"""The form in which several values are one metadata value."""

import dataclasses
import time

import ddt
import fixtures
import testtools

from pcloud import exception
from pcloud.rules import record


@dataclasses.dataclass(frozen=True)
class _Every(record.Record):
    """A record with a field of each kind."""

    code: str = dataclasses.field(
        metadata=record.word('<letters>', '[a-z]+'))
    side: str = dataclasses.field(
        default='left', metadata=record.choice('left', 'right'))
    count: int | None = dataclasses.field(
        default=None, metadata=record.WHOLE)
    ratio: float | None = dataclasses.field(
        default=None, metadata=record.RATIO)
    at: int | None = dataclasses.field(default=None, metadata=record.INSTANT)
    done: bool = dataclasses.field(default=False, metadata=record.FLAG)
    why: str = dataclasses.field(default='', metadata=record.TEXT)


@dataclasses.dataclass(frozen=True)
class _Optional(record.Record):
    """A record that needs no field."""

    count: int | None = dataclasses.field(
        default=None, metadata=record.WHOLE)
    why: str = dataclasses.field(default='', metadata=record.TEXT)


_ALL = ('code=a side=right count=7 ratio=1.5 at=20261127T180543Z done=1 '
        'why=a=b  c ')


@ddt.ddt
class RecordTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data(
        (_Every('a'), 'code=a'),
        (_Every('a', 'right', 7, 1.5, 1795802743, True, 'a=b  c '), _ALL),
        (_Every('a', count=0), 'code=a count=0'),
        (_Every('a', ratio=16.0), 'code=a ratio=16'),
        (_Every('a', ratio=1e-05), 'code=a ratio=1e-05'),
        (_Every('a', ratio=0.0), 'code=a ratio=0'),
        (_Every('a', at=0), 'code=a at=19700101T000000Z'),
        (_Every('a', at=record.LATEST), 'code=a at=21060207T062815Z'),
        (_Every('a', why='done=1'), 'code=a why=done=1'),
        (_Every('a', why='\xa0ä\u200b'), 'code=a why=\xa0ä\u200b'),
        (_Optional(7), 'count=7'), (_Optional(why='why=x'), 'why=why=x'))
    def test_texts(self, made, text):
        self.assertEqual(text, made.text())
        self.assertEqual(made, type(made).read(text))
        self.assertEqual(made, type(made).known(text))
        self.assertTrue(made.fits())

    @ddt.data(
        # What is missing, twice, in another order, or nobody's.
        '', ' ', 'code', 'code=', 'side=right', 'code=a code=a',
        'side=right code=a', 'code=a x=1', 'code=a done=1 at=20261127T180543Z',
        # What is not of the kind.
        'code=A', 'code=a side=up', 'code=a count=-1', 'code=a count=1.5',
        'code=a count=\u0663', 'code=a count=' + '9' * 11,
        'code=a ratio=nan', 'code=a ratio=inf', 'code=a ratio=-1',
        'code=a ratio=1e+39', 'code=a ratio=1e+999', 'code=a ratio=1.2.3',
        'code=a at=soon', 'code=a at=20261327T180543Z',
        'code=a at=20261127T180560Z', 'code=a at=19691231T235959Z',
        'code=a at=21060207T062816Z', 'code=a at=2026-11-27T18:05:43Z',
        'code=a at=00000101T000000Z', 'code=a done=0', 'code=a done=True',
        # What has another text, though it means the same.
        'code=a ', ' code=a', 'code=a  side=right', 'code=a side=left',
        'code=a count=07', 'code=a ratio=16.0', 'code=a ratio=1.50',
        'code=a ratio=1.0000000001', 'code=a why=',
        # What not every database holds, or is longer than a value.
        'code=a why=a\nb', 'code=a why=\x00', 'code=a why=\ud800',
        'code=a why=\U0001f600', 'code=a why=\u2028', 'code=a\n',
        'code=' + 'a' * 251)
    def test_what_is_not_right(self, text):
        error = self.assertRaises(exception.InvalidRecord, _Every.read, text)
        self.assertEqual(text, error.details['value'])
        self.assertIsNone(_Every.known(text))

    def test_the_zone_of_the_machine_does_not_matter(self):
        self.addCleanup(time.tzset)
        self.useFixture(fixtures.EnvironmentVariable('TZ', 'Asia/Tokyo'))
        time.tzset()
        made = _Every('a', at=1795802743)
        self.assertEqual('code=a at=20261127T180543Z', made.text())
        self.assertEqual(made, _Every.read(made.text()))

    def test_no_value(self):
        self.assertIsNone(_Every.known(None))
        self.assertRaises(exception.InvalidRecord, _Optional.read, '')

    def test_the_greatest_length(self):
        longest = _Every('a' * 250)
        self.assertEqual(255, len(longest.text()))
        longer = _Every('a' * 251)
        self.assertTrue(longest.fits())
        self.assertFalse(longer.fits())
        self.assertRaises(exception.InvalidRecord, longer.text)

    @ddt.data(
        _Every(''), _Every('a b'), _Every('A'), _Every('a', 'up'),
        _Every('a', count=-1), _Every('a', count=10 ** 10),
        _Every('a', ratio=-1.0), _Every('a', ratio=float('nan')),
        _Every('a', ratio=float('inf')), _Every('a', at=-1),
        _Every('a', at=record.LATEST + 1), _Every('a', why='a\nb'),
        _Every('a', why='\ud800'), _Every('a', why='\U0001f600'),
        _Optional())
    def test_what_cannot_be_written(self, made):
        self.assertRaises(exception.InvalidRecord, made.text)

    def test_the_error_shows_the_text_or_the_record(self):
        for made, shown in ((_Every('a b'), 'code=a b'),
                            (_Every('a', at=-1), repr(_Every('a', at=-1)))):
            error = self.assertRaises(exception.InvalidRecord, made.text)
            self.assertEqual(shown, error.details['value'])

    def test_the_error_says_what_is_right(self):
        error = self.assertRaises(
            exception.InvalidRecord, _Every.read, 'code=A\n')
        self.assertEqual(
            "'code=A\\n' is not right; it has to be code=<letters> "
            '[side=left|right] [count=<whole number>] [ratio=<ratio>] '
            '[at=<YYYYMMDDTHHMMSSZ>] [done=1] [why=<text>].', str(error))
