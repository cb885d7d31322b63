# SPDX-License-Identifier: Apache-2.0
"""What Placement and the compute service have still to be told of a host.

A change of a host writes what is due as one metadata value, in the same
transaction as the rows of the change. Reconciling reads the value, acts, and
deletes the value.

Rule: reference-changes-due
"""

from collections.abc import Mapping
import dataclasses
import secrets

from pcloud import names
from pcloud.rules import forms
from pcloud.rules import record

# A host that a launch adds is `GROWN`, a host that joins for the time of the
# maintenance of another is `REPLACING`, and a host that joins for another
# that has failed is `RECOVERING`.
ADDED, GROWN, REPLACING, REMOVED = 'add', 'grow', 'replace', 'remove'
RECOVERING = 'recover'
ON, OFF = 'on', 'off'

# The mark of a change, 48 random bits in hexadecimal digits.
MARK_LENGTH = 12

_MARK = record.word(f'<{MARK_LENGTH} hexadecimal digits>',
                    f'[0-9a-f]{{{MARK_LENGTH}}}')
_UUID = record.word('<uuid>', forms.UUID)


@dataclasses.dataclass(frozen=True)
class Due(record.Record):
    """What is due for one host.

    :ivar mark: the mark of the change that wrote what is due; '' where nobody
        can read what is due
    :ivar provider: uuid of the host's resource provider, None when the change
        did not know the uuid
    :ivar origin: uuid of the aggregate that the host has left
    :ivar service: `ON` or `OFF`, the wanted state of the compute service
    :ivar event: `ADDED`, `GROWN`, `REPLACING`, `RECOVERING` or `REMOVED`, the
        notification to send
    :ivar pcloud: the id of the Pcloud of the event, or of the Pcloud that a
        settling host has left
    :ivar cpu: the host's own allocation ratio of cpus, which the host gets
        back, None for no ratio; likewise ram
    :ivar since: when the host began to settle, in seconds since the epoch:
        until no earlier request can land on the host any more, and the host
        has been found empty once more; None for a host that does not settle
    :ivar name: the owner's name for the host
    """

    mark: str = dataclasses.field(metadata=_MARK)
    provider: str | None = dataclasses.field(default=None, metadata=_UUID)
    origin: str | None = dataclasses.field(default=None, metadata=_UUID)
    service: str | None = dataclasses.field(
        default=None, metadata=record.choice(ON, OFF))
    event: str | None = dataclasses.field(
        default=None,
        metadata=record.choice(
            ADDED, GROWN, REPLACING, RECOVERING, REMOVED))
    pcloud: str | None = dataclasses.field(default=None, metadata=_UUID)
    cpu: float | None = dataclasses.field(default=None, metadata=record.RATIO)
    ram: float | None = dataclasses.field(default=None, metadata=record.RATIO)
    since: int | None = dataclasses.field(
        default=None, metadata=record.INSTANT)
    name: str | None = dataclasses.field(default=None, metadata=record.TEXT)

    @property
    def ratios(self) -> dict[str, float]:
        """The own ratios, by `names.CPU_RATIO` and `names.RAM_RATIO`."""
        return {key: ratio for key, ratio in (
            (names.CPU_RATIO, self.cpu), (names.RAM_RATIO, self.ram))
            if ratio is not None}

    @property
    def empty(self) -> bool:
        """Whether the host has to be found empty."""
        return self.since is not None or not self.mark

    @property
    def only_settles(self) -> bool:
        """Whether everything is done except for the settling of the host."""
        return self.empty and not (self.origin or self.service or self.event)


def fitting(what: Due) -> Due:
    """Return what is due, so that a metadata value holds it.

    Without a provider, which names and ratios of the greatest length leave no
    room for, the provider is looked up.
    """
    return what if what.fits() else dataclasses.replace(what, provider=None)


def parse(text: str) -> Due:
    """Return what is due, as written.

    A value that nobody can read keeps the host closed. Such a value may have
    had any meaning before, so the host has to be empty.
    """
    return Due.known(text) or Due('')


def new_mark() -> str:
    """Return the mark of a change."""
    return secrets.token_hex(MARK_LENGTH // 2)


def is_mark(text: str) -> bool:
    """Whether a text is the mark of a change."""
    return Due.known(with_mark(text)) == Due(text)


def settling(dues: Mapping[str, Due]) -> dict[str, Due]:
    """Return what is due for the hosts that only settle, since a known time.

    :param dues: ``service host -> what is due``
    """
    return {host: what for host, what in dues.items()
            if what.only_settles and what.since is not None}


def with_mark(mark: str) -> str:
    """Return the beginning of the value of a change with a given mark."""
    return f'mark={mark}'
