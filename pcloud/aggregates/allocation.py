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

"""Give a Pcloud a free host of a host flavor.

Several API processes may do this at the same moment, and any of them may die
at any line. What is written, in this order, and what a crash then leaves:

1. the owner's name for the host, as a compare-and-set: of two requests for
   the same name one is refused. Left behind: a name for a host that is not
   in the Pcloud, which ``audit`` sees.
2. the membership of the host. Left behind: a host without a state, which is
   given to nobody and which ``audit`` sees.
3. after reading back that no other Pcloud has the host and that the quota
   holds, the state 'disabled'. Only now the host is in the Pcloud.

Source: CONTRACT section 3, "Allocation"; whole-host-allocation, "Host
Operations".
"""

from collections.abc import Mapping
import random
import time

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import excutils
import tenacity

from pcloud.aggregates import computes
from pcloud.aggregates import constraints
from pcloud.aggregates import emptiness
from pcloud.aggregates import host_flavors
from pcloud.aggregates import hosts
from pcloud.aggregates import names
from pcloud.aggregates import notifications
from pcloud.aggregates import pclouds
from pcloud.aggregates import quota
from pcloud.aggregates import ratios
from pcloud.aggregates import snapshot
from pcloud.aggregates import store
from pcloud import exception
from pcloud.rules import access
from pcloud.rules import choice
from pcloud.rules import constraints as constraint_rules

CONF = cfg.CONF
LOG = logging.getLogger(__name__)


# How often, and with which pause in seconds, others are waited for that want
# the same quota and have to let go; short enough for `audit.SETTLE`.
QUOTA_LOOKS = 10
_QUOTA_PAUSE = 0.2

# How many free hosts of a pool are looked at before all are.
_DRAWN = 100

# How many host flavors a request with constraints tries at most.
_FLAVORS = 100


class _Lost(Exception):
    """A host that cannot be kept; another one may do."""


def add(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    name: str, flavor_id: str, zone: str | None,
    only: frozenset[str] | None = None,
    chance: random.Random | None = None,
) -> hosts.Host:
    """Add a free host to a Pcloud, under a name of the owner's choice.

    :param zone: the availability zone to take it from, None for any
    :param only: the service hosts of which it has to be one, None for any
    :param chance: where the randomness comes from
    :returns: the host, disabled
    :raises: `exception.HostFlavorNotFound`, `exception.HostNameInUse`,
        `exception.NoFreeHost`, `exception.HostsContended`,
        `exception.QuotaExceeded`,
        `exception.PcloudNotFound` when the Pcloud is deleted meanwhile,
        `exception.Unavailable`. Nothing is left behind.
    """
    chance = chance or random.SystemRandom()
    units = host_flavors.units(context, flavor_id)
    _check_quota(context, pcloud, units)
    tried: list[str] = []
    for attempt in range(1, CONF.pcloud.allocation_attempts + 1):
        chosen = _choose(context, flavor_id, zone, only, tried, chance)
        tried.append(chosen.compute.host)
        try:
            _take(context, pcloud, name, chosen, units)
        except exception.AggregateGone:
            raise exception.PcloudNotFound(pcloud=pcloud.id)
        except _Lost as reason:
            LOG.info('Attempt %(attempt)d to add a host to Pcloud '
                     '%(pcloud)s: %(host)s was let go, %(reason)s.',
                     {'attempt': attempt, 'pcloud': pcloud.id,
                      'host': chosen.compute.host, 'reason': reason})
            time.sleep(chance.uniform(
                0, CONF.pcloud.allocation_backoff * attempt))
            _check_quota(context, pcloud, units)
        else:
            added = hosts.show(
                context, pclouds.show(context, pcloud.id), name)
            notifications.host(context, 'add', pcloud, added)
            return added
    raise exception.HostsContended(
        host_flavor=flavor_id, zone=host_flavors.in_zone(zone),
        attempts=attempt)


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(
        (exception.NoFreeHost, exception.HostFlavorNotFound)),
    wait=tenacity.wait_random(0, 0.1),
    stop=tenacity.stop_after_attempt(_FLAVORS), reraise=True)
def add_fitting(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    name: str, settings: Mapping[str, constraint_rules.Setting],
    zone: str | None,
) -> hosts.Host:
    """Add a free host of the host flavor that fits with the least waste.

    When others take its last hosts meanwhile, the next best one is chosen;
    each time somebody else has got a host, so this has an end.

    :param settings: the constraints that count
    :raises: `exception.NothingFits`, and as `add`
    """
    flavor_id, fitting = constraints.choose_flavor(context, settings, zone)
    return add(context, pcloud, name, flavor_id, zone, fitting)


def _choose(
    context: nova_context.RequestContext, flavor_id: str, zone: str | None,
    only: frozenset[str] | None, tried: list[str], chance: random.Random,
) -> host_flavors.PoolHost:
    """Choose a host at random among those that may be given.

    All that Nova knows of thousands of hosts takes seconds to read. So a few
    are drawn first, and all are read only when none of these will do.

    :raises: `exception.NoFreeHost`
    """
    hosts_ = sorted(
        host for host in snapshot.unallocated(context, flavor_id)
        if only is None or host in only)
    fresh = [host for host in hosts_ if host not in tried]
    drawn = chance.sample(fresh, min(_DRAWN, len(fresh)))
    for looked_at in (drawn, hosts_):
        known = {host: host_flavors.PoolHost(compute, pcloud=None)
                 for host, compute in
                 computes.load(context, looked_at).items()}
        chosen = choice.choose(
            map(host_flavors.candidate, known.values()), zone, tried, chance)
        if chosen is not None:
            return known[chosen.host]
    raise exception.NoFreeHost(
        host_flavor=flavor_id, zone=host_flavors.in_zone(zone))


def _take(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    name: str, chosen: host_flavors.PoolHost, units: int,
) -> None:
    aggregate_id = pcloud.aggregate.id
    node = chosen.compute.node.hypervisor_hostname
    name_key, state_key = names.host_key(name), names.state_key(node)
    if not store.insert_metadata(context, aggregate_id, name_key, node):
        raise exception.HostNameInUse(name=name, pcloud=pcloud.id)
    _check_alone(context, aggregate_id, name_key, node)
    _join(context, pcloud, name_key, chosen.compute)
    try:
        # When a compute service is deleted, Nova takes its host out and
        # leaves our metadata: such a state is not of this allocation.
        store.delete_metadata(context, aggregate_id, state_key)
        _read_back(context, pcloud, chosen, units)
        ratios.remember(context, aggregate_id, chosen.compute.node)
        ratios.introduce(context, pcloud.aggregate, chosen.compute)
        store.insert_metadata(
            context, aggregate_id, state_key, access.DISABLED)
        _check_kept(context, pcloud, chosen)
    except Exception:
        with excutils.save_and_reraise_exception():
            _give_back(context, aggregate_id, chosen.compute, name_key)
    # Whoever changes the ratios now finds the host; until now nobody did.
    ratios.settle(context, aggregate_id, chosen.compute.node)
    store.publish(context, aggregate_id)


def _join(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    name_key: str, compute: computes.Compute,
) -> None:
    """Put a host into the Pcloud's aggregate, or leave nothing.

    :raises: `_Lost` when it is there already, `exception.Unavailable` when
        Placement cannot be told
    """
    aggregate_id, node = pcloud.aggregate.id, compute.node
    try:
        store.add_host(context, aggregate_id, pcloud.aggregate.uuid,
                       compute.host, node.hypervisor_hostname)
    except exception.HostInAggregate:
        store.delete_metadata(
            context, aggregate_id, name_key, node.hypervisor_hostname)
        raise _Lost('it is in this Pcloud already')
    except Exception:
        with excutils.save_and_reraise_exception():
            store.let_go(context, aggregate_id, compute.host)
            store.delete_metadata(
                context, aggregate_id, name_key, node.hypervisor_hostname)


def _check_alone(
    context: nova_context.RequestContext, aggregate_id: int, name_key: str,
    node: str,
) -> None:
    """Look whether another request has the host in this very Pcloud.

    A name is the first thing that comes and the last that goes, so whoever
    is not done with the host yet, adding or removing it, has one for it; and
    two that come at the same moment both see it.

    :raises: `_Lost` when there is one
    """
    named = names.hosts(snapshot.metadata(context, aggregate_id))
    if list(named.values()).count(node) > 1:
        store.delete_metadata(context, aggregate_id, name_key, node)
        raise _Lost('another request for this Pcloud has it')


def _give_back(
    context: nova_context.RequestContext, aggregate_id: int,
    compute: computes.Compute, name_key: str,
) -> None:
    node = compute.node
    store.delete_metadata(
        context, aggregate_id, names.state_key(node.hypervisor_hostname))
    ratios.restore(context, snapshot.metadata(context, aggregate_id), node)
    store.remove_host(context, aggregate_id, compute.host)
    ratios.forget(context, aggregate_id, node)
    store.delete_metadata(
        context, aggregate_id, name_key, node.hypervisor_hostname)


def _check_kept(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    chosen: host_flavors.PoolHost,
) -> None:
    """Look whether an audit took a slow request for a dead one.

    :raises: `_Lost` when it did
    """
    host = chosen.compute.host
    if snapshot.pclouds_of(context, [host]).get(host) != [pcloud.id]:
        raise _Lost('it was taken out again meanwhile')


def _read_back(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    chosen: host_flavors.PoolHost, units: int,
) -> None:
    """Look at what others did while the host was being added.

    :raises: `_Lost` when the host cannot be kept
    """
    host = chosen.compute.host
    if snapshot.pclouds_of(context, [host]).get(host) != [pcloud.id]:
        raise _Lost('another Pcloud took it at the same moment')
    if pclouds.units_of(context, [host]).get(host) is None:
        raise _Lost('it has left its pool')
    _await_quota(context, pcloud, host)
    found = emptiness.reasons(context, chosen.compute)
    if found:
        LOG.warning('Host %(host)s of a pool is not empty: %(reasons)s.',
                    {'host': host, 'reasons': ', '.join(found)})
        raise _Lost('it is not empty')


def _await_quota(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud, host: str,
) -> None:
    """Look whether the quota holds with all that is being added just now.

    When it does not, those let go that do not fit beside the ones before
    them, and those before them wait for that: so somebody gets what is left.
    Nobody keeps a host while all together are too many.

    :raises: `_Lost` when it does not hold
    """
    for _ in range(QUOTA_LOOKS):
        now = quota.contest(context, pcloud.owner)
        if not now.is_over():
            return
        if not now.prefers(host):
            break
        time.sleep(_QUOTA_PAUSE)
    raise _Lost('other requests wanted the same quota')


def _check_quota(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud, units: int,
) -> None:
    now = quota.contest(context, pcloud.owner)
    if now.refuses(units):
        raise exception.QuotaExceeded(
            requested=units, in_use=sum(now.kept.values()), limit=now.limit)
