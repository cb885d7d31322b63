# SPDX-License-Identifier: Apache-2.0

"""Placement keys of hosts, which are metadata of Nova's ordinary aggregates.

Nova's own calls are enough: an administrator may put a key on any aggregate,
and Pcloud reads the keys from there. A key of the hosts alone is in an
aggregate of the key, which is made with the first host and goes with the last.

Rule: reference-placement-keys-nodes
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import typing

from pcloud.client import exceptions
from pcloud.client import transport

_AGGREGATES = '/os-aggregates'
_SERVICES = '/os-services'
_KEY_PREFIX = 'pcloud:key:'
_STICKY_PREFIX = 'pcloud:sticky:'
# The beginning of the names of aggregates that are there for one key alone.
_MADE = 'pcloud-key:'
# The beginning of the names of Pcloud's own aggregates, which have no keys.
_PCLOUDS_OWN = 'Pcloud:'


@dataclasses.dataclass(frozen=True)
class NodeKey:
    """A placement key of the hosts of an aggregate.

    :ivar value: a decimal number, as written
    :ivar sticky: the weight of a sticky key, as written; None without
    :ivar aggregate: the name of the aggregate
    :ivar hosts: the names of compute services
    :ivar is_of_hosts: whether the aggregate is there for the key alone
    """

    name: str
    value: str
    sticky: str | None
    aggregate: str
    hosts: tuple[str, ...]
    is_of_hosts: bool = False


class NodeKeys:
    """The placement keys of hosts and aggregates, for administrators.

    Every method reads all aggregates, and raises
    :class:`pcloud.client.exceptions.ClientError` or a subclass when Nova
    refuses a call. A change of hosts is several calls; to make an interrupted
    change again completes the change.
    """

    def __init__(self, sender: transport.Transport) -> None:
        self._transport = sender

    def list_all(self) -> list[NodeKey]:
        """List the keys of all aggregates, by name, value and aggregate."""
        return sorted((key for aggregate in self._aggregates()
                       for key in _keys(aggregate)),
                      key=lambda key: (key.name, key.value, key.aggregate))

    def set_for_hosts(self, name: str, value: str, sticky: str | None,
                      hosts: Collection[str]) -> None:
        """Give hosts a key, in place of a key of that name of the hosts.

        Keys that the hosts have from other aggregates stay; of several values
        the lowest counts.

        :param sticky: the weight of a sticky key, None for another key
        :param hosts: the names of compute services
        :raises exceptions.NotFound: for a host without a compute service
        :raises exceptions.BadRequest: for a name or value that no key has
        """
        self._check_hosts(hosts)
        wanted = f'{_MADE}{name}={value}' + (f':{sticky}' if sticky else '')
        there = _made_for(self._aggregates(), name)
        aggregate = next(
            (each for each in there if each['name'] == wanted), None)
        if aggregate is None:
            aggregate = self._create(wanted, name, value, sticky)
        else:
            self._write(aggregate, name, value, sticky)
        for host in sorted(set(hosts) - set(aggregate['hosts'])):
            self._act(aggregate, 'add_host', host=host)
        self._leave([each for each in there if each['name'] != wanted], hosts)

    def set_for_aggregate(self, name: str, value: str, sticky: str | None,
                          aggregate: str) -> None:
        """Give all hosts of an aggregate a key, those to come included.

        :param sticky: as :meth:`set_for_hosts`
        :param aggregate: name or id
        :raises exceptions.NotFound: when there is no such aggregate
        :raises exceptions.BadRequest: for an aggregate of Pcloud's own, and
            for a name or value that no key has
        """
        self._write(self._find(aggregate), name, value, sticky)

    def unset_for_hosts(self, name: str, hosts: Collection[str]) -> None:
        """Take a key from hosts that have it from no other aggregate.

        :raises exceptions.NotFound: when none of the hosts has such a key
        """
        aggregates = self._aggregates()
        there = [each for each in _made_for(aggregates, name)
                 if not set(hosts).isdisjoint(each['hosts'])]
        if not there:
            raise exceptions.NotFound(_not_there(name, hosts, aggregates))
        self._leave(there, hosts)

    def unset_for_aggregate(self, name: str, aggregate: str) -> None:
        """Take a key, and what makes the key sticky, from an aggregate.

        :raises exceptions.NotFound: when there is no such aggregate, or the
            aggregate has no such key
        """
        found = self._find(aggregate)
        there = [key for key in (_KEY_PREFIX + name, _STICKY_PREFIX + name)
                 if key in found['metadata']]
        if not there:
            raise exceptions.NotFound(
                f"Aggregate '{found['name']}' has no placement key '{name}'")
        self._act(found, 'set_metadata', metadata=dict.fromkeys(there))

    def _aggregates(self) -> Sequence[Mapping[str, typing.Any]]:
        return self._transport.member('aggregates', 'GET', _AGGREGATES)

    def _find(self, name_or_id: str) -> Mapping[str, typing.Any]:
        aggregate = next((each for each in self._aggregates() if name_or_id in
                          (each['name'], str(each['id']))), None)
        if aggregate is None:
            raise exceptions.NotFound(
                f"No aggregate has the id or name '{name_or_id}'")
        if aggregate['name'].startswith(_PCLOUDS_OWN):
            raise exceptions.BadRequest(
                f"Aggregate '{aggregate['name']}' is Pcloud's own, and has no "
                'placement keys; name its hosts, or an aggregate of yours')
        return aggregate

    def _check_hosts(self, hosts: Iterable[str]) -> None:
        services = self._transport.member(
            'services', 'GET', _SERVICES, params={'binary': 'nova-compute'})
        known = {service['host'] for service in services}
        for host in hosts:
            if host not in known:
                raise exceptions.NotFound(
                    f"No compute service has the host '{host}'")

    def _create(self, wanted: str, name: str, value: str,
                sticky: str | None) -> Mapping[str, typing.Any]:
        """Make an aggregate for a key; none when the key is refused."""
        aggregate = self._transport.member(
            'aggregate', 'POST', _AGGREGATES,
            json={'aggregate': {'name': wanted}})
        try:
            self._write(aggregate, name, value, sticky)
        except exceptions.ClientError:
            self._delete(aggregate)
            raise
        # Nova tells of no hosts here.
        return {**aggregate, 'hosts': []}

    def _write(self, aggregate: Mapping[str, typing.Any], name: str,
               value: str, sticky: str | None) -> None:
        # Nova takes away what has the value null.
        self._act(aggregate, 'set_metadata', metadata={
            _KEY_PREFIX + name: value, _STICKY_PREFIX + name: sticky})

    def _leave(self, aggregates: Iterable[Mapping[str, typing.Any]],
               hosts: Collection[str]) -> None:
        """Take hosts out of aggregates, and delete those left empty."""
        for aggregate in aggregates:
            there = set(aggregate['hosts'])
            for host in sorted(there & set(hosts)):
                self._act(aggregate, 'remove_host', host=host)
            if there <= set(hosts):
                self._delete(aggregate)

    def _act(self, aggregate: Mapping[str, typing.Any], action: str,
             **what: typing.Any) -> None:
        self._transport.request(
            'POST', transport.path(_AGGREGATES, str(aggregate['id']),
                                   'action'), json={action: what})

    def _delete(self, aggregate: Mapping[str, typing.Any]) -> None:
        self._transport.request(
            'DELETE', transport.path(_AGGREGATES, str(aggregate['id'])))


def _keys(aggregate: Mapping[str, typing.Any]) -> list[NodeKey]:
    metadata = aggregate['metadata']
    return [NodeKey(
        name, value, metadata.get(_STICKY_PREFIX + name), aggregate['name'],
        tuple(sorted(aggregate['hosts'])),
        aggregate['name'].startswith(_MADE))
        for key, value in metadata.items() if key.startswith(_KEY_PREFIX)
        for name in [key.removeprefix(_KEY_PREFIX)]]


def _made_for(
    aggregates: Iterable[Mapping[str, typing.Any]], name: str,
) -> list[Mapping[str, typing.Any]]:
    """Return the aggregates that are there for a key of this name."""
    return [each for each in aggregates
            if each['name'].startswith(f'{_MADE}{name}=')]


def _not_there(name: str, hosts: Collection[str],
               aggregates: Iterable[Mapping[str, typing.Any]]) -> str:
    others = sorted({
        key.aggregate for each in aggregates for key in _keys(each)
        if key.name == name and not set(hosts).isdisjoint(key.hosts)})
    lacking = (f"None of the hosts {', '.join(hosts)} has placement key "
               f"'{name}' of its own")
    return lacking + (f'; it comes from aggregate {", ".join(others)}'
                      if others else '')
