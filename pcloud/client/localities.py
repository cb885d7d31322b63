# SPDX-License-Identifier: Apache-2.0

"""Where in a Pcloud a server may go that is to be near or far from others.

Rule: reference-locality
"""

from collections.abc import Collection
from collections.abc import Iterable
import dataclasses

from pcloud import exception
from pcloud.rules.placing import locality


@dataclasses.dataclass(frozen=True)
class Spot:
    """A host of a Pcloud, as its owner sees the host.

    :ivar rack: the number of the host's rack in the Pcloud, None while unknown
    :ivar takes: whether the host could take the new server
    :ivar servers: what the hints near and far call the servers on the host:
        ids, and ``tag:NAME`` for each tag; only servers of the project
    """

    host: str
    rack: int | None = None
    takes: bool = True
    servers: frozenset[str] = frozenset()


def kept(spots: Iterable[Spot], near: Collection[str], far: Collection[str],
         strict: bool) -> list[str]:
    """Return the hosts that Pcloud's filter for locality keeps.

    Servers that are on no host of the Pcloud have no known place: a strict
    wish to be near such a server keeps no host.

    :param near: servers by id or ``tag:NAME``, as in the hint; likewise far

    Rule: reference-locality-preference, reference-locality-strict
    """
    spots = list(spots)
    wish = locality.Wish(tuple(near), tuple(far), strict)
    known = locality.Known({
        named: [spot.host for spot in spots if named in spot.servers]
        for named in (*wish.near, *wish.far)})
    if strict:
        try:
            locality.check_known(wish, known)
        except exception.LocalityUnknown:
            return []
    return locality.passing_hosts(
        [spot.host for spot in spots if spot.takes],
        {spot.host: None if spot.rack is None else str(spot.rack)
         for spot in spots},
        known.hosts(wish.near), known.hosts(wish.far), strict)
