# SPDX-License-Identifier: Apache-2.0

"""What a Pcloud does when one of its hosts is going to be in maintenance.

The owner chooses a policy for the Pcloud. A reaction is what the Pcloud has
done for one maintenance of one host; it is kept as one metadata value.

A host that joins for a maintenance of another host stands in for the other
host until that maintenance is over. It keeps for good that it has joined so.

Rule: reference-maintenance-policy
"""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
import re

from pcloud import exception

# Servers stay; they are moved within the Pcloud; a free host joins before.
STAY, MIGRATE, REPLACE = 'stay', 'migrate', 'replace'
POLICIES = (STAY, MIGRATE, REPLACE)

# What is due for a host.
NOTHING, BEGIN, END = 'nothing', 'begin', 'end'

_FORM = re.compile(r'f=([0-9a-f]{1,8})(?: n=(\S.*)| (p)=1)?')
# Before the name of a host, in place of that name: no host is called so.
_OVER = 'over '


@dataclasses.dataclass(frozen=True)
class Reaction:
    """What a Pcloud has done for a maintenance of one of its hosts.

    :ivar begin: when the maintenance begins, in seconds since the epoch; 0
        when the maintenance is over, and the host has still to be what the
        owner had chosen
    :ivar replacement: the service host that has joined the Pcloud, None for
        no host
    :ivar failed: whether there was no host that could join
    """

    begin: int
    replacement: str | None = None
    failed: bool = False

    def __str__(self) -> str:
        """Return the metadata value, which `parse` reads."""
        return f'f={self.begin:x}' + (
            ' p=1' if self.failed else '' if self.replacement is None
            else f' n={self.replacement}')


def parse(text: str | None) -> Reaction | None:
    """Read a metadata value; return None for a value that is not right."""
    found = _FORM.fullmatch(text or '')
    if found is None:
        return None
    begin, replacement, failed = found.groups()
    return Reaction(int(begin, 16), replacement, bool(failed))


def check(host: str, value: str) -> None:
    """Refuse a metadata value that is no reaction.

    :param host: the service host
    :raises: `exception.InvalidValue`
    """
    if parse(value) is None:
        raise exception.InvalidValue(
            'Maintenance', value, 'as a change has written it')


def policy(text: str | None) -> str:
    """Return the policy that counts.

    A value that is not right counts as `STAY`: nothing is moved without the
    owner's wish.

    :param text: the metadata value, None without a value
    """
    return text if text in POLICIES else STAY


def over(host: str) -> str:
    """Return what is kept of a host that has stood in for another host.

    :param host: the service host of the other host
    """
    return _OVER + host


def of_whom(kept: str) -> str:
    """Return the service host that another host stands in for, or has.

    :param kept: the service host, or the text of `over`
    """
    return kept.removeprefix(_OVER)


def leaving(
    replaced: Mapping[str, str], members: Collection[str],
) -> frozenset[str]:
    """Return the hosts of a Pcloud that have stood in for another host.

    The time of such a host is over: it counts, takes no new servers, and
    leaves the Pcloud when it is empty.

    =========  ==============  =======
    is kept    in the Pcloud   leaving
    =========  ==============  =======
    nothing    any             no
    ``b``      ``b``           no
    ``b``      no ``b``        yes
    over ``b``  any            yes
    =========  ==============  =======

    :param replaced: ``service host -> what is kept``: the service host that is
        stood in for, or the text of `over`
    :param members: the service hosts of the Pcloud

    Rule: reference-maintenance-stand-ins
    """
    return frozenset(host for host, other in replaced.items()
                     if host in members and other not in members)


def due(
    policy: str, begin: int | None, reaction: Reaction | None, lead: int,
    now: float,
) -> str:
    """Return what is due for a host.

    A maintenance counts from `lead` seconds before it begins, and not at all
    with the policy `STAY`.

    ===========  ==============================  =========
    maintenance  reaction                        due
    ===========  ==============================  =========
    counts       none, or for another beginning  `BEGIN`
    counts       for its beginning               `NOTHING`
    none counts  none                            `NOTHING`
    none counts  any                             `END`
    ===========  ==============================  =========

    :param begin: when a maintenance begins, in seconds since the epoch; None
        without a maintenance
    :param lead: seconds
    :param now: seconds since the epoch
    """
    if policy == STAY or begin is None or begin - lead > now:
        return NOTHING if reaction is None else END
    if reaction is None or reaction.begin != begin:
        return BEGIN
    return NOTHING


def deadline(begin: int, lead: int, now: float) -> int:
    """Return until when servers are moved, in seconds since the epoch.

    That is until the maintenance begins; for `lead` seconds when it has begun
    already.

    :param begin: when a maintenance begins, in seconds since the epoch
    :param lead: seconds
    :param now: seconds since the epoch
    """
    return int(now) + lead if begin <= now else begin
