# SPDX-License-Identifier: Apache-2.0
"""Maintenances of hosts: what an administrator announces, and what is due.

The steps that are due are made by a worker. Each step looks at the present
rows and the present compute service, and is harmless when repeated or made
several times at once.

Rule: reference-maintenance
"""

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.aggregates import maintenance_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.calls import compute_calls
from pcloud.backend.cells import computes
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import outages
from pcloud import exception
from pcloud import names
from pcloud.objects import host_flavors
from pcloud.objects import notifications
from pcloud.objects import reconcile
from pcloud.objects import replacements
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import maintenance_windows
from pcloud.rules.placing import access

CONF = cfg.CONF
LOG = logging.getLogger(__name__)


def put(
    context: nova_context.RequestContext, flavor_id: str, host: str,
    wish: maintenance_windows.Maintenance | None,
) -> host_flavors.PoolHost:
    """Announce the maintenance of a host of a pool, or withdraw it.

    :param wish: None to withdraw what was announced
    :returns: the host with the maintenance, whose compute service is closed
        or opened by the next `step`
    :raises: `exception.HostFlavorNotFound`, `exception.PoolHostNotFound`,
        `exception.NameTooLong`, and as `change.run`

    Rule: reference-maintenance-announce
    """
    before = host_flavors.pool_host(context, flavor_id, host)
    pool = next((each for each in pool_rows.of_hosts(context, [host])
                 if each.metadata[names.FLAVOR_ID] == flavor_id), None)
    if pool is None:
        raise exception.PoolHostNotFound(host=host, host_flavor=flavor_id)
    its = pcloud_rows.head(context, before.pcloud or '')

    def work(written: writes.Rows) -> None:
        _write(written, pool, host, wish)
        if its is not None:
            _end_unless_counts(written, its[0].id, host, wish)

    change.run(context, [journal.flavor_anchor(flavor_id)] + (
        [] if its is None else
        [journal.pcloud_anchor(its[1][names.ID])]), work)
    if wish != before.maintenance:
        reconcile.notified(_tell, context, host, pool, before, wish)
    return dataclasses.replace(before, maintenance=wish)


def _write(
    written: writes.Rows, pool: rows.Aggregate, host: str,
    wish: maintenance_windows.Maintenance | None,
) -> None:
    """Write the maintenance of a host.

    A service that an earlier maintenance has closed has to be opened, unless
    the new one has begun; that a service was closed cannot be seen here.
    """
    flavor_id = pool.metadata[names.FLAVOR_ID]
    key = names.maintenance_key(host)
    try:
        written.touch(pool.id)
    except exception.AggregateGone:
        raise exception.HostFlavorNotFound(host_flavor=flavor_id)
    if not written.holds(pool.id, host):
        raise exception.PoolHostNotFound(host=host, host_flavor=flavor_id)
    there = key in written.values(pool.id, [key])
    kept = maintenance_windows.kept(wish, open_=there)
    if there:
        written.exchange(pool.id, key, kept.text())
    elif wish is not None:
        written.insert(pool.id, {key: kept.text()})


def _end_unless_counts(
    written: writes.Rows, aggregate_id: int, host: str,
    wish: maintenance_windows.Maintenance | None,
) -> None:
    """Have nobody stand in for a host whose maintenance counts no more.

    :param aggregate_id: the id of the Pcloud's aggregate in the database
    """
    key = names.reaction_key(host)
    values = written.values(aggregate_id, [key, names.MAINTENANCE_POLICY])
    if maintenance_policies.END == maintenance_policies.due(
            maintenance_policies.policy(values.get(names.MAINTENANCE_POLICY)),
            None if wish is None else wish.begin,
            maintenance_policies.Reaction.known(values.get(key)),
            CONF.pcloud.maintenance_lead, timeutils.utcnow_ts()):
        replacements.end(written, aggregate_id, host)


def _tell(
    context: nova_context.RequestContext, host: str, pool: rows.Aggregate,
    before: host_flavors.PoolHost,
    wish: maintenance_windows.Maintenance | None,
) -> None:
    """Tell listeners of the maintenance of a host in a Pcloud."""
    if not notifications.wanted():
        return
    there = wish or before.maintenance
    action = ('withdrawn' if wish is None else
              'announced' if before.maintenance is None else 'changed')
    pcloud = pcloud_rows.find(context, before.pcloud or '')
    if pcloud is None or there is None:
        return
    node = names.nodes(pcloud.metadata).get(host)
    for name in [name for name, its
                 in names.hosts(pcloud.metadata).items() if its == node]:
        notifications.maintenance(context, notifications.MaintenanceEvent(
            pcloud_id=pcloud.metadata[names.ID],
            owner=pcloud.metadata.get(names.OWNER, ''), name=name,
            host_flavor=pool.metadata[names.FLAVOR_ID],
            availability_zone=before.compute.zone,
            state=access.state(names.states(pcloud.metadata).get(
                node or '', '')) or '',
            action=action, begin=there.begin, end=there.end,
            reason=there.reason))


def step(context: nova_context.RequestContext) -> None:
    """Do what is due for all hosts (one query while nothing is announced).

    :raises: `exception.Unavailable` and others of `outages.ANY`, once all has
        been done that could be done

    Rule: reference-maintenance-steps
    """
    _do(context, maintenance_rows.maintenances(context))


def _do(
    context: nova_context.RequestContext,
    there: Sequence[maintenance_rows.Kept],
) -> None:
    """Close the hosts whose maintenance has begun, and open others again.

    One query a cell besides the hosts that are closed or opened.
    """
    now = timeutils.utcnow_ts()
    parsed = [(row, kept) for row in there
              if (kept := maintenance_windows.KeptMaintenance.known(row.value))
              is not None]
    begun = [row for row, kept in parsed
             if kept.maintenance and kept.maintenance.has_begun(now)]
    reopened = [(row, kept) for row, kept in parsed
                if kept.open and row not in begun]
    known = computes.load(context, [
        row.host for row in begun] + [row.host for row, _ in reopened])
    errors = [
        _failure(_close, context, row) for row in begun
        if row.host in known and (
            known[row.host].enabled or not known[row.host].answered)
    ] + [
        _failure(_open, context, row, kept) for row, kept in reopened
        if row.host not in known or known[row.host].answered]
    for error in filter(None, errors):
        raise error


def _failure(
    work: Callable[..., None], *arguments: object,
) -> Exception | None:
    """Do something, and return the error of a part of the cloud away."""
    try:
        work(*arguments)
    except outages.ANY as error:
        return error
    return None


def _close(
    context: nova_context.RequestContext, row: maintenance_rows.Kept,
) -> None:
    """Disable the compute service of a host whose maintenance has begun."""
    compute_calls.close(context, row.host)
    LOG.info('The maintenance of host %s has begun.', row.host)
    # It may have been withdrawn in between, and the host opened already.
    if not _is_begun(context, row.host):
        compute_calls.open_again(context, row.host)


def _is_begun(context: nova_context.RequestContext, host: str) -> bool:
    now = timeutils.utcnow_ts()
    return any(
        found.has_begun(now) for row
        in maintenance_rows.maintenances(context, hosts=[host])
        if (found := maintenance_windows.of(row.value)) is not None)


def reopen(context: nova_context.RequestContext, host: str) -> bool:
    """Enable a compute service that a process has left disabled.

    A process that dies while it disables the service, and whose maintenance is
    withdrawn at that moment, cannot look again.

    :param host: the service host
    :returns: whether the service was enabled
    :raises: `exception.Unavailable` and others of `outages.ANY`
    """
    return not _is_begun(context, host) and compute_calls.open_again(
        context, host)


def _open(
    context: nova_context.RequestContext, row: maintenance_rows.Kept,
    kept: maintenance_windows.KeptMaintenance,
) -> None:
    """Enable a compute service that a maintenance has disabled.

    What is to be done is noted until it is done: who dies in between leaves
    the note, and the next step looks again.
    """
    compute_calls.open_again(context, row.host)
    key = names.maintenance_key(row.host)

    def work(written: writes.Rows) -> bool:
        if not written.drop_if(row.pool_id, key, row.value):
            return False
        if kept.maintenance is not None:
            written.insert(row.pool_id, {
                key: dataclasses.replace(kept, open=False).text()})
        return True

    if not change.run(
            context, [journal.flavor_anchor(row.flavor_id)], work):
        # Another maintenance may have begun before the host was opened.
        _do(context, maintenance_rows.maintenances(context, hosts=[row.host]))
