# SPDX-License-Identifier: Apache-2.0

"""Why a host is not right for a server, in words."""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
from typing import TypeVar

_Host = TypeVar('_Host', bound=Hashable)


@dataclasses.dataclass(frozen=True)
class Reason:
    """Why a host is not right.

    :ivar text: for administrators; the same text for all hosts with the same
        problem, so the hosts can be counted
    :ivar tenant_text: for the project of the request: the text names no host,
        no rack, and no value set by an administrator or another project; a
        `coded.Reason` where the filter may be asked for the owner of a Pcloud
    :ivar detail: for administrators, the figures of this host; '' for no
        detail
    """

    text: str
    tenant_text: str
    detail: str = ''


def open_to_all(text: str, detail: str = '') -> Reason:
    """Return a reason whose text the project of the request may read."""
    return Reason(text, text, detail)


def of_stages(
    hosts: Sequence[_Host],
    stages: Iterable[tuple[Callable[[_Host], Reason], Collection[_Host]]],
) -> list[Reason | None]:
    """Return why each host is dropped, None for a host that is kept.

    :param stages: for each stage in order, a function ``host -> reason`` for
        the hosts dropped by the stage, and the hosts kept by the stage. No
        further stage is asked for when no host is left.
    """
    host_reasons: dict[_Host, Reason | None] = dict.fromkeys(hosts)
    remaining = list(host_reasons)
    for why, passed in stages:
        passing = frozenset(passed)
        for host in remaining:
            if host not in passing:
                host_reasons[host] = why(host)
        remaining = [host for host in remaining if host in passing]
        if not remaining:
            break
    return [host_reasons[host] for host in hosts]
