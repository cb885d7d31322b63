# SPDX-License-Identifier: Apache-2.0

"""Placement keys where Nova keeps them: flavors, images, aggregates, hints.

The API refuses bad keys. A bad key that was written by other means is left
out, with one warning.

Rule: reference-placement-keys
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from nova import context as nova_context

from pcloud.backend.cells import computes
from pcloud.backend import complaints
from pcloud.backend import request_specs
from pcloud import exception
from pcloud import names
from pcloud.rules.placing import affinity
from pcloud.rules.placing import hints as hint_rules

IMAGE_SYSTEM_PREFIX = 'pcloud_system_key_'
IMAGE_CUSTOMER_PREFIX = 'pcloud_customer_key_'

# The request spec of any server with customer keys has one of the marks.
_MARKS = (hint_rules.CUSTOMER_RECORD, hint_rules.DEVICE_RECORD,
          names.CUSTOMER_KEY_PREFIX, hint_rules.PLACEMENT_KEY)

# The project and the keys of a server.
_Offered: TypeAlias = tuple[str, tuple[affinity.Key, ...]]
_NO_KEYS: _Offered = '', ()
# The number of servers whose keys are remembered; the keys never change.
_REMEMBERED = 100_000


def system(
    metadata: Mapping[str, str], prefix: str = names.SYSTEM_KEY_PREFIX,
) -> list[affinity.Key]:
    """Return the system keys in extra specs or properties."""
    return list(_valid(metadata, prefix, affinity.check_system))


def customer(
    metadata: Mapping[str, str], prefix: str = names.CUSTOMER_KEY_PREFIX,
) -> list[affinity.Key]:
    """Return the customer keys in extra specs or properties."""
    return list(_valid(metadata, prefix, affinity.check_customer))


def _valid(
    metadata: Mapping[str, str], prefix: str,
    check: Callable[[affinity.Key], affinity.Key],
) -> Iterable[affinity.Key]:
    for name, text in sorted(names.stripped(metadata, prefix).items()):
        try:
            yield check(affinity.key(name, str(text)))
        except exception.InvalidValue as error:
            complaints.once(f'It counts nowhere: {error}')


def recorded(
    hints: Mapping[str, Sequence[str]] | None, name: str,
) -> list[affinity.Key]:
    """Return the keys recorded in a hint of a server."""
    keys = []
    for text in (hints or {}).get(name) or ():
        try:
            keys.append(affinity.parse(text))
        except exception.InvalidValue as error:
            complaints.once(f'It counts nowhere: {error}')
    return keys


def of_server(
    hints: Mapping[str, Sequence[str]] | None,
    extra_specs: Mapping[str, str],
) -> dict[str, affinity.Key]:
    """Return the customer keys of a server.

    The keys of the levels above the flavor, and of the levels below the
    server, were recorded when the server was created; the request spec has the
    flavor's and the server's own keys.

    :param extra_specs: the extra specs of the server's present or future
        flavor
    :returns: ``name -> key``
    """
    return affinity.compiled([
        recorded(hints, hint_rules.CUSTOMER_RECORD), customer(extra_specs),
        recorded(hints, hint_rules.PLACEMENT_KEY),
        recorded(hints, hint_rules.DEVICE_RECORD)])


def of_node(
    metadata: Iterable[Mapping[str, str]],
) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Return the keys of a host, and the weights of the sticky keys.

    Of several values the lowest value counts, so that all schedulers agree.

    :param metadata: the metadata of each aggregate of the host
    :returns: ``name -> value`` and ``name -> weight``
    """
    values: dict[str, Fraction] = {}
    sticky: dict[str, Fraction] = {}
    for mapping in metadata:
        for prefix, numbers in ((names.NODE_KEY_PREFIX, values),
                                (names.STICKY_PREFIX, sticky)):
            for name, number in _numbers(mapping, prefix):
                numbers[name] = min(numbers.get(name, number), number)
    return values, {name: weight for name, weight in sticky.items() if weight}


def _numbers(
    metadata: Mapping[str, str], prefix: str,
) -> Iterable[tuple[str, Fraction]]:
    for name, text in names.stripped(metadata, prefix).items():
        try:
            yield node_key_name(name), affinity.number(text)
        except exception.InvalidValue as error:
            complaints.once(f'It counts nowhere: {error}')


def node_key_name(text: str) -> str:
    """Read the name of a host's key, which must not be a computed key.

    :raises: `exception.InvalidValue`
    """
    name = affinity.name(text)
    if name in affinity.SPECIAL:
        raise exception.InvalidValue(
            'Placement key', text,
            'a name that is not computed for every host')
    return name


def sticky(
    metadata: Iterable[Mapping[str, str]],
) -> tuple[affinity.Key, ...]:
    """Return the copies that a server gets of a host's sticky keys.

    :param metadata: the metadata of each aggregate of the host

    Rule: reference-placement-keys-sticky
    """
    values, weights = of_node(metadata)
    return tuple(affinity.Key(name, values[name], weight)
                 for name, weight in sorted(weights.items()) if name in values)


class Memory:
    """The customer keys that servers were started with.

    The keys of a server change only with the server's flavor. All requests of
    a scheduler share one memory.
    """

    def __init__(self) -> None:
        self._known: dict[computes.Server, _Offered] = {}

    def keys_of(
        self, context: nova_context.RequestContext,
        servers: Collection[computes.Server],
    ) -> dict[computes.Server, _Offered]:
        """Return project and keys of each server that has keys.

        One query for five hundred servers that are new to the memory.

        :returns: ``server -> (project id, keys)``
        """
        known = self._known
        unknown = [server for server in servers if server not in known]
        if len(known) + len(unknown) > _REMEMBERED:
            known = self._known = {server: known[server] for server in servers
                                   if server in known}
        passing: dict[computes.Server, _Offered] = {}
        for batch in request_specs.batches(unknown):
            specs = {uuid: (spec.flavor, _of_spec(spec)) for uuid, spec
                     in request_specs.with_any(
                         context, [server.uuid for server in batch], _MARKS)}
            for server in batch:
                flavor, keys = specs.get(
                    server.uuid, (server.flavor, _NO_KEYS))
                # In the midst of a resize a server may have another flavor
                # than its request spec; that passes.
                cache = known if flavor == server.flavor else passing
                cache[server] = keys
        return {server: keys for server in servers
                if (keys := known.get(server) or passing[server])[1]}


def _of_spec(
    spec: request_specs.Spec,
) -> _Offered:
    return spec.project, tuple(
        of_server(spec.hints, spec.extra_specs).values())
