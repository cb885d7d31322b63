# SPDX-License-Identifier: Apache-2.0

"""Repair what `audit` finds; each function returns what was done.

A repair is a change like any other change: the repair locks what requests
lock, and reads the present rows. A defect gone by then counts as repaired.
"""

from nova import context as nova_context
from oslo_config import cfg
from oslo_utils import timeutils

from pcloud.backend.aggregates import closed_rows
from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.calls import placement
from pcloud.backend.cells import compute_nodes
from pcloud.backend.cells import computes
from pcloud.backend.cells import consumers
from pcloud.backend.changes import change
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import spans
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud.moving import maintenance
from pcloud import names
from pcloud.objects import emptiness
from pcloud.objects import reconcile
from pcloud.objects import replacements
from pcloud.rules.placing import access

CONF = cfg.CONF

_DONE = 'it was done meanwhile'


def settle_stateless(
    aggregate: rows.Aggregate, host: str, node: str,
    context: nova_context.RequestContext,
) -> str:
    """Release an empty host, or give a host with servers back as disabled."""
    is_empty = not emptiness.occupants(
        context, computes.of_host(context, host))

    def work(written: writes.Rows) -> bool:
        metadata = written.metadata(aggregate.id)
        if (isolation.pclouds_of(context, [host]).get(host) !=
                [aggregate.metadata[names.ID]] or
                names.state_key(node) in metadata):
            return False
        if not is_empty:
            written.set(aggregate.id, {
                names.state_key(node): access.DISABLED,
                names.node_key(host): node})
            return True
        kept = written.values(
            aggregate.id, [*names.kept_keys(host), names.span_key(host)])
        own = readings.own_ratios(kept, host)
        _claim(written, host, due.Due(
            written.mark, origin=aggregate.uuid,
            pcloud=metadata.get(names.ID), since=int(timeutils.utcnow_ts()),
            cpu=own.get(names.CPU_RATIO), ram=own.get(names.RAM_RATIO)))
        written.leave(aggregate.id, [host])
        if written.journal_has(
                names.unopened_key(host), aggregate.metadata[names.ID]):
            written.unmark([names.unopened_key(host)])
        replacements.end(written, aggregate.id, host)
        spans.add_to_sums(written, kept.get(names.span_key(host)), 0)
        written.drop(aggregate.id, [
            *kept, *(names.host_key(name) for name, its
                     in names.hosts(metadata).items() if its == node)])
        return True

    done = change.run(context, [_anchor(aggregate), journal.owner_anchor(
        aggregate.metadata.get(names.OWNER, ''))], work)
    reconcile.finish(context, [host])
    if not done:
        return _DONE
    if is_empty:
        return 'it is empty and has left the Pcloud'
    return 'it is not empty; it is disabled in the Pcloud now'


def keep_node(
    aggregate: rows.Aggregate, host: str, node: str,
    context: nova_context.RequestContext,
) -> str:
    """Keep the name of a host's compute node in the journal."""
    def work(written: writes.Rows) -> bool:
        if host not in written.members(aggregate.id):
            return False
        written.set(aggregate.id, {names.node_key(host): node})
        return True

    if change.run(context, [_anchor(aggregate)], work):
        return 'its compute node is kept now'
    return _DONE


def drop_key(
    aggregate: rows.Aggregate, key: str,
    context: nova_context.RequestContext,
) -> str:
    """Delete a metadata key without a host, unless the value has changed."""
    value = aggregate.metadata[key]
    node = (key.removeprefix(names.STATE_PREFIX)
            if key.startswith(names.STATE_PREFIX) else value)

    def work(written: writes.Rows) -> bool:
        # The host may have come back meanwhile, and the key be its own.
        return (node not in written.nodes(aggregate.id) and
                written.drop_if(aggregate.id, key, value))

    done = change.run(context, [_anchor(aggregate)], work)
    return 'the key is deleted' if done else _DONE


def send_away(
    aggregate: rows.Aggregate, host: str,
    context: nova_context.RequestContext,
) -> str:
    """Have a stand-in host leave, unless the host leaves already.

    :param host: the service host
    """
    done = change.run(context, [_anchor(aggregate)], lambda written: (
        replacements.send_left_behind(
            context, written, aggregate.metadata[names.ID], host)))
    return 'the host counts, and leaves when it is empty' if done else _DONE


def forget_unopened(
    pcloud_id: str, host: str, context: nova_context.RequestContext,
) -> str:
    """Delete the mark of a host outside of the Pcloud of the mark.

    :param host: the service host
    """
    key = names.unopened_key(host)

    def work(written: writes.Rows) -> bool:
        # The host may have joined anew meanwhile, and the mark be right.
        if (not written.journal_has(key, pcloud_id) or pcloud_id in
                isolation.pclouds_of(context, [host]).get(host, ())):
            return False
        written.unmark([key])
        return True

    if change.run(context, [journal.pcloud_anchor(pcloud_id)], work):
        return 'the key is deleted'
    return _DONE


def forget_released(
    project_id: str, host: str, text: str,
    context: nova_context.RequestContext,
) -> str:
    """Delete who has let a host go that settles no more.

    :param host: the service host
    :param text: the row as written
    """
    key = names.released_key(host)

    def work(written: writes.Rows) -> bool:
        if written.due_of(host) or not written.journal_has(key, text):
            return False
        written.unmark([key])
        return True

    if change.run(context, [journal.owner_anchor(project_id)], work):
        return 'the key is deleted'
    return _DONE


def open_host(
    aggregate: rows.Aggregate, host: str,
    context: nova_context.RequestContext,
) -> str:
    """Open a host with the state 'enabled' that was never enabled.

    :param host: the service host
    :raises: `exception.HostBusy` when a row is due for the host
    """
    def work(written: writes.Rows) -> bool:
        node = written.values(aggregate.id, [names.node_key(host)]).get(
            names.node_key(host), '')
        if not written.has(
                aggregate.id, names.state_key(node), access.ENABLED):
            return False
        if not written.open(host):
            raise exception.HostBusy(name=host)
        return True

    if change.run(context, [_anchor(aggregate)], work):
        return 'the host is enabled'
    return _DONE


def drop_move(
    pcloud_id: str, key: str, value: str,
    context: nova_context.RequestContext,
) -> str:
    """Delete where a server is to be moved, unless that has changed."""
    if change.run(context, [journal.pcloud_anchor(pcloud_id)],
                  lambda written: written.drop_kept(key, value)):
        return 'the key is deleted'
    return _DONE


def drop_kept(
    prefix: str, host: str, value: str,
    context: nova_context.RequestContext,
) -> str:
    """Delete what the journal keeps of a host that is in no such aggregate.

    :param prefix: the prefix of the key
    :param host: the service host
    """
    def work(written: writes.Rows) -> bool:
        # No other change of the host is made meanwhile.
        _claim(written, host, due.Due(written.mark))
        done = not _is_inside(context, prefix, host) and written.drop_kept(
            prefix + host, value)
        written.unmark([names.due_key(host)])
        return done

    if change.run(context, [journal.REPAIR_ANCHOR], work):
        return 'the key is deleted'
    return _DONE


def _is_inside(
    context: nova_context.RequestContext, prefix: str, host: str,
) -> bool:
    """Whether a host is where a row of the journal has a meaning."""
    return any(
        isolation.is_pcloud(there.name, there.metadata) != (
            prefix == names.MAINTENANCE_PREFIX)
        for there in closed_rows.closed_of(context, host))


def open_again(host: str, context: nova_context.RequestContext) -> str:
    """Enable the compute service of a host without a maintenance.

    :param host: the service host
    """
    if maintenance.reopen(context, host):
        return 'the compute service is enabled'
    return _DONE


def end_closing(
    aggregate: rows.Aggregate, key: str, node: str,
    context: nova_context.RequestContext,
) -> str:
    """Delete what only a disabled host has of an enabled host.

    :param key: of the drain of the host, or of the host as a spare
    :param node: the hypervisor hostname of the host
    """
    def work(written: writes.Rows) -> bool:
        if not written.has(
                aggregate.id, names.state_key(node), access.ENABLED):
            return False
        return bool(written.drop(aggregate.id, [key]))

    if change.run(context, [_anchor(aggregate)], work):
        return 'the key is deleted'
    return _DONE


def give_back_ratio(
    host: str, value: str, context: nova_context.RequestContext,
) -> str:
    """Give a host that has left a Pcloud the host's own ratios back.

    Of an unreadable value the key is deleted and nothing else.

    :param host: the service host
    :param value: the own ratios as written
    """
    key = names.own_ratios_key(host)
    own = readings.own_ratios({key: value}, host)

    def work(written: writes.Rows) -> bool:
        _claim(written, host, due.Due(
            written.mark, cpu=own.get(names.CPU_RATIO),
            ram=own.get(names.RAM_RATIO)))
        if _is_inside(context, names.OWN_PREFIX, host):
            written.unmark([names.due_key(host)])
            return False
        return written.drop_kept(key, value)

    done = change.run(context, [journal.REPAIR_ANCHOR], work)
    is_known = bool(computes.load(context, [host]))
    reconcile.host(context, host)
    if not done:
        return _DONE
    if not is_known:
        return 'the host is gone, and the key is deleted'
    if not own:
        return 'its own ratio is not known, and the key is deleted'
    return 'the host has its own ratio again'


def tell_placement(
    aggregate: rows.Aggregate, host: str,
    context: nova_context.RequestContext,
) -> str:
    """Bring Placement's records of a host after the rows."""
    change.run(context, [_anchor(aggregate)],
               lambda written: written.remind([host]))
    reconcile.host(context, host)
    return 'Placement knows now'


def have_placement_forget(
    aggregate: rows.Aggregate, provider: str,
    context: nova_context.RequestContext,
) -> str:
    """Remove a membership unknown to Nova from Placement."""
    host = compute_nodes.every_node(context).get(provider, (None, None))[0]
    if host is None:
        _forget(context, provider, aggregate.uuid)
        return 'Placement has forgotten it'
    change.run(context, [_anchor(aggregate)], lambda written: _claim(
        written, host, due.Due(written.mark, provider=provider,
                               origin=aggregate.uuid)))
    reconcile.host(context, host)
    return 'Placement has forgotten it'


@placement.until_newest
def _forget(
    context: nova_context.RequestContext, provider: str, uuid: str,
) -> None:
    """Take a provider unknown to Nova out of an aggregate."""
    body = placement.aggregates(context, provider)
    if body is not None:
        body['aggregates'] = sorted(set(body['aggregates']) - {uuid})
        if not placement.set_aggregates(context, provider, body):
            raise placement.Outdated()


def is_old(orphan: consumers.Orphan, written: float) -> bool:
    """Whether no request is at work on an orphan any more.

    :param written: when Placement has last written an allocation of the
        consumer, in seconds since the epoch
    """
    return timeutils.utcnow_ts() - max(orphan.ended, written) > (
        CONF.pcloud.settle_limit)


@placement.until_newest
def drop_allocation(
    host: str, consumer: str, context: nova_context.RequestContext,
) -> str:
    """Delete what an orphan has of a host in Placement, and nothing else.

    The consumer keeps allocations of other hosts. The generation is read
    before the rows: a later claim of the scheduler is a conflict.

    :param host: the service host
    :param consumer: the uuid of the consumer
    """
    provider = computes.of_host(context, host).node.uuid
    body, written = placement.allocations(context, consumer)
    of_host = placement.tree(context, provider) & body['allocations'].keys()
    found = consumers.orphans(context, {host: [consumer]}).get(host, {})
    if not of_host or consumer not in found or not is_old(
            found[consumer], written):
        return _DONE
    for each in of_host:
        del body['allocations'][each]
    if not placement.set_allocations(context, consumer, body):
        raise placement.Outdated()
    return 'the allocation is deleted'


def drop_attribute(
    aggregate: rows.Aggregate, context: nova_context.RequestContext,
) -> str:
    """Delete the aggregate of a value that no host has."""
    name, = names.attributes(aggregate.metadata)
    if change.run(context, [journal.attribute_anchor(name)],
                  lambda written: written.delete(aggregate.id)):
        return 'the aggregate is deleted'
    return 'a host has it now'


def _claim(written: writes.Rows, host: str, what: due.Due) -> None:
    try:
        written.claim(host, what)
    except exception.KeyTaken:
        raise exception.HostBusy(name=host)


def _anchor(aggregate: rows.Aggregate) -> str:
    # The hosts of all pools and Pclouds, as Placement has them.
    if aggregate.name == names.JOURNAL:
        return journal.REPAIR_ANCHOR
    # By hand the metadata may have been deleted, but not the name.
    if aggregate.name.startswith(names.POOL_PREFIX):
        return journal.flavor_anchor(
            aggregate.name.removeprefix(names.POOL_PREFIX))
    return journal.pcloud_anchor(aggregate.metadata.get(
        names.ID, aggregate.name.removeprefix(names.PREFIX)))
