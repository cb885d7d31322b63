# SPDX-License-Identifier: Apache-2.0

"""How much of a Pcloud a tenant may use, and whether more is too much.

nova-api and the request filter ask this module, so the answers cannot
disagree.

Rule: reference-usage-caps
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses

from pcloud import exception
from pcloud.rules import coded
from pcloud.rules import record


@dataclasses.dataclass(frozen=True)
class Amounts:
    """What servers use.

    :ivar servers: the number of servers
    :ivar vcpus: the processors of their flavors
    :ivar memory_mb: the memory of their flavors, in MiB
    """

    servers: int = 0
    vcpus: int = 0
    memory_mb: int = 0

    def times(self, number: int) -> Amounts:
        """Return what as much again and again comes to."""
        return Amounts(*(number * each for each in self.values()))

    def beyond(self, other: Amounts) -> Amounts:
        """Return by how much each amount is greater, at least 0."""
        return Amounts(*(max(0, mine - its) for mine, its
                         in zip(self.values(), other.values(), strict=True)))

    def values(self) -> tuple[int, int, int]:
        """Return the amounts, in the order of the fields."""
        return self.servers, self.vcpus, self.memory_mb


def total(several: Iterable[Amounts]) -> Amounts:
    """Return the sum of amounts."""
    sums = [0, 0, 0]
    for amounts in several:
        sums = [one + more for one, more
                in zip(sums, amounts.values(), strict=True)]
    return Amounts(*sums)


@dataclasses.dataclass(frozen=True)
class Caps(record.Record):
    """The most that a tenant may use; None is any amount."""

    servers: int | None = dataclasses.field(
        default=None, metadata=record.WHOLE)
    vcpus: int | None = dataclasses.field(default=None, metadata=record.WHOLE)
    memory_mb: int | None = dataclasses.field(
        default=None, metadata=record.WHOLE)

    def exceeded(
        self, used: Amounts, asked: Amounts,
    ) -> Iterator[tuple[str, int, int, int]]:
        """Yield name, used, asked and cap of what would be too much.

        ====  ==============  =====  ========
        cap   used and asked  asked  too much
        ====  ==============  =====  ========
        None  any             any    no
        n     at most n       any    no
        n     more than n     0      no
        n     more than n     more   yes
        ====  ==============  =====  ========

        A cap below what is used refuses only what asks for more.
        """
        for field, its_use, more in zip(
                dataclasses.fields(self), used.values(), asked.values(),
                strict=True):
            cap = getattr(self, field.name)
            if cap is not None and more > 0 and its_use + more > cap:
                yield field.name, its_use, more, cap


def read(pcloud_id: str, texts: Mapping[str, str], project: str) -> Caps:
    """Return the caps of a tenant of a Pcloud.

    :param texts: ``project id -> caps``, as written
    :raises: `exception.CapExceeded` for caps that cannot be read: nobody knows
        what is too much then
    """
    if project not in texts:
        return Caps()
    known = Caps.known(texts[project])
    if known is None:
        raise exception.CapExceeded(
            pcloud=pcloud_id, reason=coded.Reason('cap_unreadable'))
    return known


def check(pcloud_id: str, caps: Caps, used: Amounts, asked: Amounts) -> None:
    """Refuse what would be more than the caps of a tenant.

    :param used: what the tenant uses of the Pcloud
    :param asked: what comes to that
    :raises: `exception.CapExceeded`, with the numbers of all that is too much
    """
    over = list(caps.exceeded(used, asked))
    if over:
        reasons = [coded.Reason('cap_exceeded', resource=resource, used=its,
                                asked=more, cap=cap)
                   for resource, its, more, cap in over]
        raise exception.CapExceeded(pcloud=pcloud_id, reason=(
            reasons[0] if len(reasons) == 1 else '; '.join(reasons)))
