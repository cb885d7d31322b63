# SPDX-License-Identifier: Apache-2.0

"""The form in which several values are one metadata value.

A record is a frozen dataclass and the dataclass's text. The text has the
fields in the order in which they are declared, each as ``name=value``, with
one blank between::

    since=20261127T180543Z move=live release=1

=============  ===========================  ============================
kind           value                        in the text
=============  ===========================  ============================
`word`         a text of a declared form    as it is, without blanks
`WHOLE`        an integer from 0 on         ``16``
`LARGE`        likewise, of 30 digits       ``31622400000000``
`RATIO`        a number from 0 on           ``16``, ``1.5``, ``1e+20``:
                                            nine digits, for Placement
                                            keeps fewer
`INSTANT`      seconds since the epoch      ``20261127T180543Z``, in UTC
`FLAG`         true or false                ``1`` for true
`TEXT`         any text but for characters  all that is left, with
               of `_REFUSED`                blanks; so a record has at
                                            most one, and has it last
=============  ===========================  ============================

A field with its default value is left out, and a text without any field is no
record. There is one text for each record: whatever else is written is refused,
so that nobody reads half of what an administrator has meant.

Rule: reference-metadata-records
"""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import datetime
import re
from typing import Any
from typing import Self

from pcloud import exception
from pcloud.rules import forms

# The last instant, in seconds since the epoch: in the year 2106.
LATEST = 0xffffffff
# The greatest number that Placement keeps of a ratio.
_MOST_OF_RATIO = 3.40282e+38

# Control characters break tables, lone surrogates cannot be encoded, and some
# of Nova's databases keep the basic multilingual plane alone.
_REFUSED = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff'
                      '\U00010000-\U0010ffff]')
_KIND, _STAMP = 'kind', '%Y%m%dT%H%M%SZ'


@dataclasses.dataclass(frozen=True)
class _Kind:
    """How the value of a field is written and read.

    :ivar said: what stands in the text, for the words of an error
    :ivar form: the form of the text, as a regular expression
    :ivar write: returns the text of a value
    :ivar read: returns the value of a text of the form; raises `ValueError`
        for a text without a value
    """

    said: str
    form: str
    write: Callable[[Any], str] = str
    read: Callable[[str], Any] = str


# What is given to `dataclasses.field` as the metadata of the field.
_Declared = Mapping[str, _Kind]


def _stamp(seconds: int) -> str:
    if not 0 <= seconds <= LATEST:
        raise ValueError(seconds)
    return datetime.datetime.fromtimestamp(
        seconds, datetime.UTC).strftime(_STAMP)


def _seconds(text: str) -> int:
    seconds = int(datetime.datetime.fromisoformat(text).timestamp())
    if not 0 <= seconds <= LATEST:
        raise ValueError(text)
    return seconds


def _ratio(text: str) -> float:
    value = float(text)
    if value > _MOST_OF_RATIO:
        raise ValueError(text)
    return value


WHOLE: _Declared = {_KIND: _Kind('<whole number>', '[0-9]{1,10}', str, int)}
LARGE: _Declared = {_KIND: _Kind(
    '<large number>', '[0-9]{1,30}', str, int)}
RATIO: _Declared = {_KIND: _Kind(
    '<ratio>', r'[0-9]{1,10}(?:\.[0-9]{1,15})?(?:e[+-][0-9]{2,3})?',
    '{:.9g}'.format, _ratio)}
INSTANT: _Declared = {_KIND: _Kind(
    '<YYYYMMDDTHHMMSSZ>', '[0-9]{8}T[0-9]{6}Z', _stamp, _seconds)}
FLAG: _Declared = {_KIND: _Kind(
    '1', '1', lambda value: str(int(value)), bool)}
TEXT: _Declared = {_KIND: _Kind('<text>', '.+')}


def word(said: str, form: str) -> _Declared:
    """Declare a field with a text of a form, which matches no blank.

    :param said: what stands in the text, for the words of an error
    :param form: a regular expression
    """
    return {_KIND: _Kind(said, f'(?:{form})')}


def choice(*words: str) -> _Declared:
    """Declare a field that has one of some words."""
    return word('|'.join(words), '|'.join(map(re.escape, words)))


@dataclasses.dataclass(frozen=True)
class Record:
    """A dataclass whose fields are declared with the kinds of this module.

    A record that has fields which do not go together raises `ValueError` when
    it is made.
    """

    def text(self) -> str:
        """Return the metadata value.

        :raises: `exception.InvalidRecord` for a record that Nova cannot hold,
            or that could not be read
        """
        try:
            text = ' '.join(self._parts())
        except ValueError as error:
            raise _invalid(type(self), repr(self)) from error
        if not (_is_right(text) and
                _form(type(self)).fullmatch(f'{text} ')):
            raise _invalid(type(self), text)
        return text

    def fits(self) -> bool:
        """Whether the text is no longer than a metadata value."""
        return self.length <= forms.LIMIT

    @property
    def length(self) -> int:
        """The number of characters of the text, also of too many."""
        return len(' '.join(self._parts()))

    def _parts(self) -> Iterator[str]:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                yield f'{field.name}={field.metadata[_KIND].write(value)}'

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the record of a metadata value.

        :raises: `exception.InvalidRecord` for anything that `text` does not
            return
        """
        found = _form(cls).fullmatch(f'{text} ')
        if found is None or not _is_right(text):
            raise _invalid(cls, text)
        values = found.groupdict()
        try:
            made = cls(**{
                field.name: field.metadata[_KIND].read(values[field.name])
                for field in dataclasses.fields(cls)
                if values[field.name] is not None})
        except ValueError as error:
            raise _invalid(cls, text) from error
        if ' '.join(made._parts()) != text:
            raise _invalid(cls, text)
        return made

    @classmethod
    def known(cls, text: str | None) -> Self | None:
        """Return the record of a metadata value, if there is one.

        :param text: the metadata value, None without a value
        :returns: None also for a value that is not right
        """
        try:
            return None if text is None else cls.read(text)
        except exception.InvalidRecord:
            return None


# To make a form takes as long as to read a text.
_FORMS: dict[type[Record], re.Pattern[str]] = {}


def _is_right(text: str) -> bool:
    return 0 < len(text) <= forms.LIMIT and not _REFUSED.search(text)


def _form(cls: type[Record]) -> re.Pattern[str]:
    """Return the form of a text and a blank, with a group for each field."""
    if cls not in _FORMS:
        _FORMS[cls] = re.compile(''.join(
            f'(?:{field.name}=(?P<{field.name}>{field.metadata[_KIND].form}) )'
            + ('' if field.default is dataclasses.MISSING else '?')
            for field in dataclasses.fields(cls)))
    return _FORMS[cls]


def _invalid(cls: type[Record], text: str) -> exception.InvalidRecord:
    parts = [(f'{field.name}={field.metadata[_KIND].said}',
              field.default is dataclasses.MISSING)
             for field in dataclasses.fields(cls)]
    return exception.InvalidRecord(value=text, expected=' '.join(
        part if is_needed else f'[{part}]' for part, is_needed in parts))
