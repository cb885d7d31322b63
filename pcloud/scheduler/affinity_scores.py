# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Feed the affinity algorithm from a request and the hosts it may have.

The keys of a request are read once and kept in the request's memo; what hosts
have changes from one server of a multi-create to the next.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import MutableMapping
from collections.abc import Sequence
from fractions import Fraction
import itertools
import weakref

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager
from oslo_config import cfg
from oslo_log import log as logging

from pcloud.aggregates import affinity_keys
from pcloud.aggregates import computes
from pcloud.aggregates import names
from pcloud.aggregates import servers
from pcloud import exception
from pcloud.rules import affinity
from pcloud.scheduler import host_capacity
from pcloud.scheduler import memo
from pcloud.scheduler import request

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

_SPECIAL_WEIGHTS = {affinity.RAM: 'ram_contention_weight',
                    affinity.CPU: 'cpu_contention_weight',
                    affinity.LOAD: 'load_weight'}

_memory = affinity_keys.Memory()

_PREFIXES = (names.NODE_KEY_PREFIX, names.STICKY_PREFIX)
_read_before: MutableMapping[
    objects.Aggregate, tuple[Mapping[str, str], tuple[str, ...]],
] = weakref.WeakKeyDictionary()


def compiled_keys(
    spec: objects.RequestSpec,
    host_states: Sequence[host_manager.HostState],
) -> memo.CompiledKeys:
    """Return the placement keys of a request.

    One query; two more where hosts have sticky keys, and one a cell.
    """
    kept = memo.of(spec)
    if kept.keys is None:
        kept.keys = _read(spec, host_states)
    return kept.keys


def rounds(
    host_states: Sequence[host_manager.HostState], wished: memo.CompiledKeys,
) -> list[int | None]:
    """Return the round that each host is in, as `rules.affinity.round_of`."""
    limits = thresholds()
    of_hosts, scores = _scores(host_states, wished)
    found = [affinity.round_of(each, limits) for each in scores]
    return [found[number] for number in of_hosts]


def system(
    host_states: Sequence[host_manager.HostState], wished: memo.CompiledKeys,
) -> list[Fraction]:
    """Return how much the administrator likes each host for a request."""
    of_hosts, scores = _scores(host_states, wished)
    return [scores[number] for number in of_hosts]


def _scores(
    host_states: Sequence[host_manager.HostState], wished: memo.CompiledKeys,
) -> tuple[Sequence[int], list[Fraction]]:
    """Return system scores, and for each host which of them is its own.

    But for keys that are computed, hosts that are in the same aggregates
    share one.
    """
    of_hosts, kinds = _node_keys(host_states)
    scores = [affinity.score(wished.system, keys.items()) for keys in kinds]
    computed = {name: tell for name, tell in _SPECIAL.items()
                if name in wished.system}
    if not computed:
        return of_hosts, scores
    return range(len(host_states)), [
        scores[number] + affinity.score(
            wished.system,
            [(name, tell(each)) for name, tell in computed.items()])
        for each, number in zip(host_states, of_hosts, strict=True)]


def thresholds() -> list[Fraction]:
    """Return the thresholds of the rounds, from the options."""
    options = CONF.pcloud
    return affinity.thresholds(
        host_capacity.exact(options.initial_msav),
        host_capacity.exact(options.final_msav), options.msav_steps)


def _node_keys(
    host_states: Sequence[host_manager.HostState],
) -> tuple[list[int], list[Mapping[str, Fraction]]]:
    """Return keys that are not computed, and which of them each host has.

    Thousands of hosts share a few aggregates: what they are in together is
    looked at once, and of the same kind are those with the same keys.
    """
    together: dict[tuple[objects.Aggregate, ...], int] = (
        collections.defaultdict(itertools.count().__next__))
    of_hosts = [together[tuple(each.aggregates)] for each in host_states]
    saying = _having(together, names.NODE_KEY_PREFIX)
    kinds: dict[tuple[objects.Aggregate, ...], int] = (
        collections.defaultdict(itertools.count().__next__))
    told = [kinds[tuple(filter(saying.__contains__, each))]
            for each in together]
    keys = [affinity_keys.of_node(each.metadata for each in kind)[0]
            for kind in kinds]
    return [told[number] for number in of_hosts], keys


def _having(
    aggregates: Iterable[Iterable[objects.Aggregate]], prefix: str,
) -> set[objects.Aggregate]:
    """Return those with a metadata key of a prefix.

    :param aggregates: those of each host
    """
    return {each for each in set(itertools.chain.from_iterable(aggregates))
            if prefix in _prefixes(each)}


def _prefixes(aggregate: objects.Aggregate) -> tuple[str, ...]:
    """Return which prefixes of ours its metadata keys have.

    The scheduler gets another object, or another mapping in it, when an
    aggregate changes.
    """
    metadata = aggregate.metadata
    read, found = _read_before.get(aggregate, (None, ()))
    if read is not metadata:
        # A Pcloud has hundreds of keys; one search is faster than as many.
        keys = '\n'.join(['', *metadata])
        found = tuple(each for each in _PREFIXES if f'\n{each}' in keys)
        _read_before[aggregate] = metadata, found
    return found


def customer(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec, wished: memo.CompiledKeys,
) -> list[Fraction]:
    """Return how much the customer likes each host.

    The servers of the same request that were placed before count: as many
    as a host has more than it had at the first.
    """
    if not wished.customer:
        return [Fraction(0)] * len(host_states)
    kept = memo.of(spec)
    if kept.before is None:
        kept.before = _before(host_states, spec, wished)
    own = affinity.score(wished.customer, (
        (key.name, key.value) for key in wished.customer.values()))
    found = []
    for each in host_states:
        score, count = kept.before.get(
            _id(each), (Fraction(0), each.num_instances))
        more = each.num_instances - count
        found.append(score + own * more if more > 0 else score)
    return found


def _before(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec, wished: memo.CompiledKeys,
) -> dict[tuple[str, str], tuple[Fraction, int]]:
    running = _running(spec, [each.host for each in host_states])
    of_hosts, kinds = _node_keys(host_states)
    # Of thousands of servers many have the same keys.
    known: dict[tuple[str, Fraction], Fraction] = {}
    nothing = Fraction(0)
    found = {}
    for each, number in zip(host_states, of_hosts, strict=True):
        score = nothing
        reserved = (pair for pair in kinds[number].items()
                    if affinity.is_reserved(pair[0]))
        theirs = ((key.name, key.value)
                  for key in running.get(each.host, ()))
        for offered in (*reserved, *theirs):
            if offered[0] in wished.customer:
                if offered not in known:
                    known[offered] = affinity.score(
                        wished.customer, [offered])
                # Hosts share the number that most of them have.
                score = score + known[offered] if score else known[offered]
        found[_id(each)] = score, each.num_instances
    return found


def _id(host_state: host_manager.HostState) -> tuple[str, str]:
    return host_state.host, host_state.nodename


def _ram(host_state: host_manager.HostState) -> Fraction:
    memory = host_state.total_usable_ram_mb or 0
    return affinity.share(
        Fraction(memory - (host_state.free_ram_mb or 0)),
        memory * host_capacity.ratio(host_state, names.RAM_RATIO))


def _cpu(host_state: host_manager.HostState) -> Fraction:
    return affinity.share(
        Fraction(host_state.vcpus_used or 0), (host_state.vcpus_total or 0) *
        host_capacity.ratio(host_state, names.CPU_RATIO))


def _load(host_state: host_manager.HostState) -> Fraction:
    """Return the load of a host's cpus, where its monitor tells it.

    Nova hands it on in per cent.
    """
    percent = next((each.value for each in host_state.metrics or ()
                    if each.name == 'cpu.percent' and 'value' in each), 0)
    return affinity.share(host_capacity.exact(percent), Fraction(100))


# The keys of a host that are computed.
# Source: dynamic-workload-placement-affinity, Step 3.
_SPECIAL = {affinity.RAM: _ram, affinity.CPU: _cpu, affinity.LOAD: _load}


def _read(
    spec: objects.RequestSpec,
    host_states: Sequence[host_manager.HostState],
) -> memo.CompiledKeys:
    context = nova_context.get_admin_context()
    said = request.scheduler_hints(spec)
    # Where no host has a sticky key there is nothing to go back to.
    sticky = _sticky(context, spec) if _having(
        (each.aggregates for each in host_states),
        names.STICKY_PREFIX) else []
    system = affinity.compiled([
        *_system_levels(spec, said),
        [key for key in sticky if not affinity.is_reserved(key.name)]])
    customer = affinity.compiled([
        affinity_keys.of_server(said, _extra_specs(spec)).values(),
        [key for key in sticky if affinity.is_reserved(key.name)]])
    return memo.CompiledKeys(system, customer)


def _system_levels(
    spec: objects.RequestSpec, said: Mapping[str, Sequence[str]],
) -> list[Sequence[affinity.Key]]:
    """Return the system keys of each level, from the highest."""
    of_pcloud, project, of_domain, cloud = (
        each.system_keys for each in request.policies(spec))
    defaults = [affinity.Key(name, Fraction(0), weight) for name, option
                in _SPECIAL_WEIGHTS.items()
                if (weight := host_capacity.exact(CONF.pcloud[option]))]
    image = affinity_keys.recorded(said, affinity_keys.IMAGE_RECORD)
    return [defaults, cloud, of_domain, project, image, of_pcloud,
            affinity_keys.system(_extra_specs(spec))]


def _extra_specs(spec: objects.RequestSpec) -> Mapping[str, str]:
    flavor = spec.flavor if 'flavor' in spec else None
    if flavor is None or 'extra_specs' not in flavor:
        return {}
    return flavor.extra_specs


def _sticky(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
) -> list[affinity.Key]:
    """Return the sticky keys of the host that a server was on, if any."""
    if 'instance_uuid' not in spec or not spec.instance_uuid:
        return []
    try:
        host = servers.last_host(context, spec.instance_uuid)
    except exception.Unavailable as error:
        LOG.warning('Sticky keys of server %(server)s are left out: '
                    '%(error)s',
                    {'server': spec.instance_uuid, 'error': error})
        return []
    return affinity_keys.sticky_of_host(context, host) if host else []


def _running(
    spec: objects.RequestSpec, hosts: Sequence[str],
) -> dict[str, tuple[affinity.Key, ...]]:
    """Return service host to the customer keys of the servers on it."""
    context = nova_context.get_admin_context()
    there = computes.running(context, hosts)
    keys = _memory.of(context, list(itertools.chain(*there.values())))
    own_only = CONF.pcloud.customer_key_scope == 'project'
    found: dict[str, tuple[affinity.Key, ...]] = {}
    for host, its_servers in there.items():
        for server in its_servers:
            project, offered = keys.get(server, ('', ()))
            if server.uuid != spec.instance_uuid and (
                    not own_only or project == spec.project_id):
                found[host] = found.get(host, ()) + offered
    return found
