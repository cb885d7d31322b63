# SPDX-License-Identifier: Apache-2.0

"""How much administrator and customer like each host for a request.

The keys of hosts change from one server of a multi-create to the next, so the
scores are computed for each server.

Rule: reference-placement-keys-score, reference-placement-keys-rounds
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
from fractions import Fraction
import itertools

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager
from oslo_config import cfg

from pcloud.backend.cells import computes
from pcloud.objects.placing import affinity_keys
from pcloud.rules.placing import affinity
from pcloud.scheduler import host_attributes
from pcloud.scheduler import host_capacity
from pcloud.scheduler import memo
from pcloud.scheduler import node_keys
from pcloud.scheduler import request

CONF = cfg.CONF

_memory = affinity_keys.Memory()


def in_rounds(
    host_states: Sequence[host_manager.HostState], wished: memo.CompiledKeys,
) -> list[bool]:
    """Return whether each host is in a round: has a number in `rounds`.

    Computed keys add only so much to a score. Hosts are asked for theirs where
    the rest of their score leaves that open.
    """
    last = min(thresholds())
    if not wished.system:
        return [last < 0] * len(host_states)
    of_hosts, bases = _by_kind(
        host_states, host_attributes.aggregates(host_states), wished)
    least, most = affinity.share_scores(wished.system, _computed(wished))
    are_in = [base + least > last for base in bases]
    are_open = [not is_in and base + most > last
                for base, is_in in zip(bases, are_in, strict=True)]
    if not any(are_open):
        return [are_in[kind] for kind in of_hosts]
    left = iter(rounds([
        host_state for host_state, kind in zip(
            host_states, of_hosts, strict=True) if are_open[kind]], wished))
    return [next(left) is not None if are_open[kind] else are_in[kind]
            for kind in of_hosts]


def rounds(
    host_states: Sequence[host_manager.HostState], wished: memo.CompiledKeys,
) -> list[int | None]:
    """Return the round of each host, as `rules.placing.affinity.round_of`.

    Hosts in the same aggregates share a score. Where computed keys count, all
    hosts differ: then the scores are estimated, and only a score close to a
    threshold is computed exactly.
    """
    limits = thresholds()
    if not wished.system:
        return [affinity.round_of(Fraction(0), limits)] * len(host_states)
    aggregates = host_attributes.aggregates(host_states)
    of_hosts, bases = _by_kind(host_states, aggregates, wished)
    computed = _computed(wished)
    if not computed:
        numbers = [affinity.round_of(base, limits) for base in bases]
        return [numbers[kind] for kind in of_hosts]
    guesses, error = affinity.estimated_scores(
        wished.system, bases, of_hosts,
        {name: node_keys.ESTIMATED[name](host_states, aggregates)
         for name in computed})
    return [
        affinity.round_of(bases[kind] + _own(host_state, wished), limits)
        if number == affinity.UNCERTAIN else number
        for host_state, kind, number in zip(
            host_states, of_hosts, affinity.estimated_rounds(
                guesses, error, limits), strict=True)]


def system(
    host_states: Sequence[host_manager.HostState], wished: memo.CompiledKeys,
) -> list[Fraction]:
    """Return how much the administrator likes each host for a request."""
    of_hosts, bases = _by_kind(
        host_states, host_attributes.aggregates(host_states), wished)
    return [bases[kind] + _own(host_state, wished)
            for host_state, kind in zip(host_states, of_hosts, strict=True)]


def parts(
    host_states: Sequence[host_manager.HostState], wished: memo.CompiledKeys,
) -> list[dict[str, Fraction]]:
    """Return what each key adds to the score of each host, as `system`.

    :returns: for each host ``name -> score``, without keys that add nothing
    """
    of_hosts, kinds = node_keys.grouped(
        host_states, host_attributes.aggregates(host_states))
    offered = [{**kinds[kind], **{
        name: node_keys.COMPUTED[name](host_state)
        for name in _computed(wished)}} for host_state, kind in zip(
            host_states, of_hosts, strict=True)]
    return [{name: added for name, value in sorted(each.items())
             if (added := affinity.score(wished.system, [(name, value)]))}
            for each in offered]


def _by_kind(
    host_states: Sequence[host_manager.HostState],
    aggregates: Collection[objects.Aggregate], wished: memo.CompiledKeys,
) -> tuple[list[int], list[Fraction]]:
    """Return the kind of each host, and the system score of each kind.

    The keys that are computed for a host are left out.
    """
    of_hosts, kinds = node_keys.grouped(host_states, aggregates)
    return of_hosts, [affinity.score(wished.system, keys.items())
                      for keys in kinds]


def _own(
    host_state: host_manager.HostState, wished: memo.CompiledKeys,
) -> Fraction:
    """Return what the keys that are computed for a host add to its score."""
    return affinity.score(wished.system, [
        (name, node_keys.COMPUTED[name](host_state))
        for name in _computed(wished)])


def _computed(wished: memo.CompiledKeys) -> list[str]:
    return [name for name in node_keys.COMPUTED if name in wished.system]


def thresholds() -> list[Fraction]:
    """Return the thresholds of the rounds, from the options."""
    options = CONF.pcloud
    return affinity.thresholds(
        host_capacity.exact(options.initial_msav),
        host_capacity.exact(options.final_msav), options.msav_steps)


def customer(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec, wished: memo.CompiledKeys,
) -> list[Fraction]:
    """Return how much the customer likes each host.

    Servers of the same request that were placed before count: their number on
    a host is the increase of the host's servers since the first placement.
    """
    if not wished.customer:
        return [Fraction(0)] * len(host_states)
    if request.servers(spec) == 1:
        return _scores(host_states, spec, wished)
    request_memo = memo.of_request(spec)
    if request_memo.before is None:
        request_memo.before = {
            _id(host_state): (score, host_state.num_instances)
            for host_state, score in zip(
                host_states, _scores(host_states, spec, wished), strict=True)}
    own = affinity.score(wished.customer, (
        (key.name, key.value) for key in wished.customer.values()))
    scores = []
    for host_state in host_states:
        score, count = request_memo.before.get(
            _id(host_state), (Fraction(0), host_state.num_instances))
        more = host_state.num_instances - count
        scores.append(score + own * more if more > 0 else score)
    return scores


def _scores(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec, wished: memo.CompiledKeys,
) -> list[Fraction]:
    """Return how much the customer likes each host, without siblings."""
    running = _running(spec, [host_state.host for host_state in host_states])
    # Of thousands of servers many have the same keys, and share the values;
    # fractions are slow to look up.
    known: dict[tuple[str, int], Fraction] = {}
    scores = []
    for host_state, score in zip(
            host_states, _of_nodes(host_states, wished), strict=True):
        for key in running.get(host_state.host, ()):
            if key.name in wished.customer:
                name_and_value = key.name, id(key.value)
                its = known.get(name_and_value)
                if its is None:
                    its = known[name_and_value] = affinity.score(
                        wished.customer, [(key.name, key.value)])
                # Hosts share the number that most of them have.
                score = score + its if score else its
        scores.append(score)
    return scores


def _of_nodes(
    host_states: Sequence[host_manager.HostState], wished: memo.CompiledKeys,
) -> list[Fraction]:
    """Return how much the customer likes the reserved keys of each host."""
    if not any(map(affinity.is_reserved, wished.customer)):
        return [Fraction(0)] * len(host_states)
    of_hosts, kinds = node_keys.grouped(
        host_states, host_attributes.aggregates(host_states))
    bases = [affinity.score(wished.customer, [
        pair for pair in keys.items() if affinity.is_reserved(pair[0])])
        for keys in kinds]
    return [bases[kind] for kind in of_hosts]


def _id(host_state: host_manager.HostState) -> tuple[str, str]:
    return host_state.host, host_state.nodename


def _running(
    spec: objects.RequestSpec, hosts: Sequence[str],
) -> dict[str, tuple[affinity.Key, ...]]:
    """Return ``service host -> customer keys of its servers``."""
    context = nova_context.get_admin_context()
    there = computes.running(context, hosts)
    keys = _memory.keys_of(context, list(itertools.chain(*there.values())))
    own_only = CONF.pcloud.customer_key_scope == 'project'
    host_keys: dict[str, tuple[affinity.Key, ...]] = {}
    for host, its_servers in there.items():
        for server in its_servers:
            project, offered = keys.get(server, ('', ()))
            if server.uuid != spec.instance_uuid and (
                    not own_only or project == spec.project_id):
                host_keys[host] = host_keys.get(host, ()) + offered
    return host_keys
