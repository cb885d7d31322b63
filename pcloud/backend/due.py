# SPDX-License-Identifier: Apache-2.0
"""What Placement and the compute service have still to be told of a host.

A change of a host writes what is due as one metadata value, in the same
transaction as the rows of the change. Reconciling reads the value, acts, and
deletes the value.

Rule: reference-changes-due
"""

from collections.abc import Mapping
import dataclasses
import re

from pcloud import exception
from pcloud import names
from pcloud.rules import ratios as ratio_rules
from pcloud.rules import uuids

# A host that a launch adds is `GROWN`, a host that joins for the time of the
# maintenance of another is `REPLACING`.
ADDED, GROWN, REPLACING, REMOVED = 'add', 'grow', 'replace', 'remove'
ON, OFF = 'on', 'off'

# The mark of a change, 48 random bits in hexadecimal digits.
MARK_LENGTH = 12

_SINCE = re.compile('[0-9a-f]{1,8}')
_MARK = re.compile(rf'[0-9a-f]{{{MARK_LENGTH}}}')
_WORDS = {'service': (ON, OFF), 'event': (ADDED, GROWN, REPLACING, REMOVED)}
_RATIO_KEYS = {'c': names.CPU_RATIO, 'r': names.RAM_RATIO}
_FIELDS = {'n': 'provider', 'l': 'origin', 's': 'service', 'a': 'event',
           'p': 'pcloud', 'h': 'name'}


@dataclasses.dataclass(frozen=True)
class Due:
    """What is due for one host.

    :ivar mark: the mark of the change that wrote what is due
    :ivar provider: uuid of the host's resource provider, None when the change
        did not know the uuid
    :ivar origin: uuid of the aggregate that the host has left
    :ivar ratios: the host's own allocation ratios, which the host gets back,
        by `names.CPU_RATIO` and `names.RAM_RATIO`
    :ivar service: `ON` or `OFF`, the wanted state of the compute service
    :ivar event: `ADDED`, `GROWN`, `REPLACING` or `REMOVED`, the notification
        to send
    :ivar pcloud: the id of the Pcloud of the event, or of the Pcloud that a
        settling host has left
    :ivar name: the owner's name for the host
    :ivar empty: whether the host settles: until no earlier request can land on
        the host any more, and the host has been found empty once more
    :ivar since: when the host began to settle, in seconds since the epoch
    """

    mark: str
    provider: str | None = None
    origin: str | None = None
    ratios: Mapping[str, float] = dataclasses.field(default_factory=dict)
    service: str | None = None
    event: str | None = None
    pcloud: str | None = None
    name: str | None = None
    empty: bool = False
    since: int | None = None

    @property
    def only_settles(self) -> bool:
        """Whether everything is done except for the settling of the host."""
        return self.empty and not (self.origin or self.service or self.event)

    def __str__(self) -> str:
        """Return the metadata value, the mark first."""
        parts: dict[str, str | None] = {'m': self.mark}
        parts |= {key: getattr(self, field)
                  for key, field in _FIELDS.items()}
        # Placement keeps six digits of a ratio; nine fit.
        parts |= {key: f'{self.ratios[name]:.9g}'
                  for key, name in _RATIO_KEYS.items()
                  if name in self.ratios}
        if self.empty:
            parts['e'] = '1'
        if self.since is not None:
            # As short as possible: a value has 255 characters.
            parts['t'] = f'{self.since:x}'
        return ' '.join(f'{key}={value}' for key, value in parts.items()
                        if value is not None)


def parse(value: str) -> Due:
    """Read a metadata value.

    Parts without a meaning are left out: the value may have been written by
    hand, and keeps the host closed whatever the text. A value without the mark
    of a change may have had any meaning before, so the host has to be empty.
    """
    parts = dict(part.split('=', 1) for part in value.split(' ')
                 if '=' in part)
    ratios = {}
    for key, name in _RATIO_KEYS.items():
        try:
            ratios[name] = ratio_rules.of_host(parts[key])
        except (KeyError, exception.InvalidValue):
            continue
    is_ours = is_mark(parts.get('m', ''))
    return Due(mark=parts['m'] if is_ours else '', ratios=ratios,
               empty='e' in parts or not is_ours,
               since=_since(parts.get('t')),
               **{field: parts[key] for key, field in _FIELDS.items()
                  if key in parts and _fits(field, parts[key])})


def is_mark(text: str) -> bool:
    """Whether a text is the mark of a change."""
    return _MARK.fullmatch(text) is not None


def _fits(field: str, text: str) -> bool:
    if field in _WORDS:
        return text in _WORDS[field]
    return field == 'name' or uuids.is_uuid(text)


def _since(text: str | None) -> int | None:
    if text is None or not _SINCE.fullmatch(text):
        return None
    return int(text, 16)


def settling(dues: Mapping[str, Due]) -> dict[str, Due]:
    """Return what is due for the hosts that only settle, since a known time.

    :param dues: ``service host -> what is due``
    """
    return {host: what for host, what in dues.items()
            if what.only_settles and what.since is not None}


def with_mark(mark: str) -> str:
    """Return the beginning of the value of a change with a given mark."""
    return f'm={mark}'
