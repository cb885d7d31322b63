# SPDX-License-Identifier: Apache-2.0

"""Servers near to and far from each other: which hosts are kept.

Rule: reference-locality
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from pcloud import exception
from pcloud.rules import forms
from pcloud.rules.placing import hints as hint_rules
from pcloud import text

STRICT = 'strict'

_TAG = 'tag:'

# Why a host is dropped.
ON_FAR, IN_FAR_RACK, NOT_NEAR = (
    'it runs a server that this one is to be far from',
    'it is in the rack of a server that this one is to be far from',
    'it is neither the host nor in the rack of a server that this one is to '
    'be near to')


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a request asks about its place.

    :ivar near: servers by id or, after the prefix ``tag:``, by a tag
    :ivar far: servers, named like the servers of ``near``
    :ivar strict: whether the wish is a requirement, not a preference
    """

    near: tuple[str, ...]
    far: tuple[str, ...]
    strict: bool

    def tags(self) -> frozenset[str]:
        """Return the names of all tags that a server can have."""
        return frozenset(name.removeprefix(_TAG) for name in self._all()
                         if is_tag(name) and text.is_askable(name))

    def servers(self) -> frozenset[str]:
        """Return every text that can be the id of a server."""
        return frozenset(name for name in self._all()
                         if forms.is_uuid(name))

    def _all(self) -> tuple[str, ...]:
        return self.near + self.far


@dataclasses.dataclass(frozen=True)
class Known:
    """Where the named servers are.

    :ivar hosts_of: ``id or tag in the hint -> hosts of its servers``. An
        unknown server is missing; a server without a host, or a tag of no
        server, has no hosts.
    """

    hosts_of: Mapping[str, Sequence[str]]

    def hosts(self, named: Iterable[str]) -> list[str]:
        """Return the host of each named server, once for each server."""
        return [host for name in named
                for host in self.hosts_of.get(name, ())]


def wish(hints: Mapping[str, Sequence[str]] | None) -> Wish | None:
    """Read the locality hints of a request, None if there are no such hints.

    :param hints: the request's scheduler hints, each a list of values
    :raises: `exception.InvalidValue` for a locality that is not strict
    """
    hints = hints or {}
    locality = hints.get(hint_rules.LOCALITY) or ()
    for value in locality:
        if value != STRICT:
            raise exception.InvalidValue(
                'Scheduler hint locality', value, "'strict', or left out")
    near, far = (tuple(hints.get(name) or ())
                 for name in (hint_rules.NEAR, hint_rules.FAR))
    if not near and not far:
        return None
    return Wish(near, far, bool(locality))


def check(hints: Mapping[str, object]) -> None:
    """Refuse locality hints that name no server, whatever servers there are.

    :param hints: ``name -> value, or list of values``, as a user writes hints
    :raises: `exception.InvalidValue`

    Rule: reference-hints-wrong
    """
    for name in (hint_rules.NEAR, hint_rules.FAR):
        for value in hint_rules.values(hints, name):
            if not _names_servers(value):
                raise exception.InvalidValue(
                    f'Scheduler hint {name}', value,
                    'the id of a server, as openstack server show -f value '
                    '-c id NAME prints it, or tag:NAME for the servers with '
                    'a tag')
    for value in hint_rules.values(hints, hint_rules.LOCALITY):
        if value != STRICT:
            raise exception.InvalidValue(
                'Scheduler hint locality', value, "'strict', or left out")


def _names_servers(value: object) -> bool:
    return isinstance(value, str) and (
        forms.is_uuid_in_any_case(value) or
        is_tag(value) and value != _TAG)


def tag(name: str) -> str:
    """Return the form of a tag in a hint."""
    return _TAG + name


def is_tag(named: str) -> bool:
    """Whether a hint names servers by a tag."""
    return named.startswith(_TAG)


def check_known(wish: Wish, known: Known) -> None:
    """Refuse a strict wish about unknown servers.

    No server can be near to a server without a host, or to a tag of no server,
    so `near` refuses both; `far` accepts both.

    :raises: `exception.LocalityUnknown`
    """
    missing = [name for name in wish.near + wish.far
               if name not in known.hosts_of]
    missing += [name for name in wish.near if not known.hosts([name])]
    if missing:
        raise exception.LocalityUnknown(
            named=', '.join(dict.fromkeys(missing)))


def passing_hosts(
    candidates: Sequence[str], racks: Mapping[str, str | None],
    near: Sequence[str], far: Sequence[str], strict: bool,
) -> list[str]:
    """Return the hosts that are kept, in their order.

    =======  ==========================================================
    hint     keeps
    =======  ==========================================================
    far      hosts without any named server; among such hosts, if
             possible, hosts in racks without named servers
    near     hosts with any named server; else hosts in a rack with any
             named server
    =======  ==========================================================

    A step without a remaining host is undone, and far comes first. In strict
    form near keeps hosts with all named servers, else hosts in the one rack
    with all named servers; no step is undone but the preference for other
    racks, which comes last.

    :param racks: ``host -> rack`` of the candidates and the servers' hosts
    :param near: the host of each server to be near to
    :param far: the host of each server to be far from

    Rule: reference-locality-preference, reference-locality-strict
    """
    return stages(candidates, racks, near, far, strict)[-1][1]


def levels(
    candidates: Sequence[str], racks: Mapping[str, str | None],
    near: Sequence[str], far: Sequence[str],
) -> list[int]:
    """Return how far each host is from a preference, 0 for a host as wanted.

    The hosts of the lowest level are the hosts that `passing_hosts` keeps
    without strict. When these hosts are full, the next level has the hosts
    that `passing_hosts` keeps among the other hosts.

    All parameters are as for `passing_hosts`.

    Rule: reference-locality-preference
    """
    avoided, wanted = frozenset(far), frozenset(near)
    far_racks = {racks.get(host) for host in far} - {None}
    near_racks = {racks.get(host) for host in near} - {None}

    def from_near(host: str) -> int:
        if not near or host in wanted:
            return 0
        return 1 if racks.get(host) in near_racks else 2

    return [6 * (host in avoided) + 3 * (racks.get(host) in far_racks) +
            from_near(host) for host in candidates]


def strict_levels(
    candidates: Sequence[str], racks: Mapping[str, str | None],
    near: Sequence[str], far: Sequence[str],
) -> list[int | None]:
    """Return how far each host is from a requirement, as `levels` does.

    The hosts of the lowest level are the hosts that `passing_hosts` keeps with
    strict.

    :returns: None for a host which the requirement refuses

    Rule: reference-locality-strict
    """
    avoided, wanted = frozenset(far), frozenset(near)
    far_racks = {racks.get(host) for host in far} - {None}
    near_rack = _one_rack(racks, near)

    def from_near(host: str) -> int | None:
        if not near or wanted == {host}:
            return 0
        return 2 if _is_in_rack(near_rack, racks, host) else None

    distances = [None if host in avoided else from_near(host)
                 for host in candidates]
    return [None if distance is None else
            distance + (racks.get(host) in far_racks)
            for host, distance in zip(candidates, distances, strict=True)]


def stages(
    candidates: Sequence[str], racks: Mapping[str, str | None],
    near: Sequence[str], far: Sequence[str], strict: bool,
) -> list[tuple[str, list[str]]]:
    """Return the steps of `passing_hosts`: why hosts drop, and which remain.

    All parameters are as for `passing_hosts`.

    :returns: for each step in its order, `ON_FAR`, `IN_FAR_RACK` or
        `NOT_NEAR`, with the hosts that remain
    """
    far_racks = {racks.get(host) for host in far} - {None}

    def elsewhere(hosts: list[str]) -> list[str]:
        return _if_any(hosts, lambda host: racks.get(host) not in far_racks)

    avoided = frozenset(far)
    away = [host for host in candidates if host not in avoided]
    if strict:
        remaining = _near_all(away, racks, near)
        return [(ON_FAR, away), (NOT_NEAR, remaining),
                (IN_FAR_RACK, elsewhere(remaining))]
    away = away or list(candidates)
    remaining = elsewhere(away)
    return [(ON_FAR, away), (IN_FAR_RACK, remaining),
            (NOT_NEAR, _near_any(remaining, racks, near))]


def _if_any(hosts: list[str], wanted: Callable[[str], bool]) -> list[str]:
    return [host for host in hosts if wanted(host)] or hosts


def _near_any(
    hosts: list[str], racks: Mapping[str, str | None], near: Sequence[str],
) -> list[str]:
    if not near:
        return hosts
    wanted = frozenset(near)
    beside = [host for host in hosts if host in wanted]
    near_racks = {racks.get(host) for host in near} - {None}
    return beside or _if_any(
        hosts, lambda host: racks.get(host) in near_racks)


def _near_all(
    hosts: list[str], racks: Mapping[str, str | None], near: Sequence[str],
) -> list[str]:
    if not near:
        return hosts
    wanted = frozenset(near)
    beside = [host for host in hosts if wanted == {host}]
    near_rack = _one_rack(racks, near)
    return beside or [
        host for host in hosts if _is_in_rack(near_rack, racks, host)]


def _one_rack(
    racks: Mapping[str, str | None], hosts: Sequence[str],
) -> str | None:
    """Return the rack that all of some hosts are in, None without one."""
    their_racks = {racks.get(host) for host in hosts}
    return their_racks.pop() if len(their_racks) == 1 else None


def _is_in_rack(
    rack: str | None, racks: Mapping[str, str | None], host: str,
) -> bool:
    return rack is not None and racks.get(host) == rack
