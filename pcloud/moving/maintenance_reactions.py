# SPDX-License-Identifier: Apache-2.0


"""What a Pcloud does when one of its hosts is going to be in maintenance.

The owner's policy says whether the servers of the host are moved, and whether
a spare or a free host stands in before. A worker begins and ends
reactions. One change writes all of a reaction; what has been done for a host
is kept in one row of the journal.

Rule: reference-maintenance-policy
"""

from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.aggregates import maintenance_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.changes import change
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import outages
from pcloud.counters import allocations
from pcloud import exception
from pcloud.moving import maintenance_drains
from pcloud import names
from pcloud.objects.changing_hands import allocation
from pcloud.objects.changing_hands import stand_ins
from pcloud.objects import hosts
from pcloud.objects import notifications
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.objects import replacements
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import maintenance_windows
from pcloud.rules.moving import recovery

CONF = cfg.CONF
LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class _Subject:
    """A host of a Pcloud for which something is due.

    :ivar host: the service host
    :ivar node: the hypervisor hostname
    :ivar name: the owner's name for the host
    :ivar seen: the reaction as written, None without a reaction
    :ivar announced: the row of the maintenance, None without one
    """

    host: str
    node: str
    name: str
    seen: str | None
    announced: maintenance_rows.Kept | None

    @property
    def maintenance(self) -> maintenance_windows.Maintenance | None:
        """The maintenance, None without one."""
        return maintenance_windows.of(
            None if self.announced is None else self.announced.value)

    @property
    def reaction(self) -> maintenance_policies.Reaction | None:
        """What was done so far; what nobody can read was not done."""
        return maintenance_policies.Reaction.known(self.seen)

    @property
    def keys(self) -> list[str]:
        """The metadata keys that say what the host is at present."""
        return [names.host_key(self.name), names.reaction_key(self.host),
                names.state_key(self.node), names.drain_key(self.host),
                names.MAINTENANCE_POLICY]

    def is_as_seen(self, values: Mapping[str, str]) -> bool:
        """Whether nobody else has begun or ended a reaction meanwhile.

        :param values: the present metadata values of `keys`
        """
        return (values.get(names.host_key(self.name)) == self.node and
                values.get(names.reaction_key(self.host)) == self.seen)

    def is_announced(self, written: writes.Rows) -> bool:
        """Whether the maintenance still begins when it was to begin."""
        if self.announced is None or self.maintenance is None:
            return False
        key = names.maintenance_key(self.host)
        there = maintenance_windows.of(
            written.values(self.announced.pool_id, [key]).get(key))
        return there is not None and there.begin == self.maintenance.begin


def step(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    seen: Mapping[str, str], announced: Mapping[str, maintenance_rows.Kept],
) -> None:
    """Begin and end reactions to maintenances, as far as possible.

    What could not be done stays due.

    :param seen: ``service host -> reaction``, as written
    :param announced: ``service host -> row of a maintenance``, read after
        `seen`: a reaction without a maintenance has outlived the maintenance

    Rule: reference-maintenance-policy
    """
    try:
        aggregate = pcloud_rows.find(context, pcloud.id)
    except outages.ANY as error:
        LOG.warning('Pcloud %(pcloud)s cannot react to maintenances yet: '
                    '%(error)s', {'pcloud': pcloud.id, 'error': error})
        return
    if aggregate is None:
        return
    for subject in _subjects(aggregate, seen, announced):
        _attempt(context, pcloud, aggregate, subject)
    for host in replacements.left_behind(aggregate):
        _attempt_to_send_away(context, pcloud, host)


def _subjects(
    aggregate: rows.Aggregate, seen: Mapping[str, str],
    announced: Mapping[str, maintenance_rows.Kept],
) -> list[_Subject]:
    """Return the hosts for which something may be due.

    A host that leaves because it has stood in leaves, whatever is announced.
    A host that has failed is recovered first.
    """
    leaving = maintenance_policies.leaving(
        maintenance_policies.stand_ins(names.replaced(aggregate.metadata)),
        aggregate.hosts)
    node_of = names.nodes(aggregate.metadata)
    name_of = {node: name for name, node
               in names.hosts(aggregate.metadata).items()}
    return [_Subject(host, node_of[host], name_of[node_of[host]],
                     seen.get(host), announced.get(host))
            for host in sorted(
                ({*seen, *announced} & aggregate.hosts) - leaving - {
                    host for host, text in names.recoveries(
                        aggregate.metadata).items() if recovery.has_begun(
                            text)})
            if node_of.get(host) in name_of]


def _attempt(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: _Subject,
) -> None:
    maintenance = subject.maintenance
    what = maintenance_policies.due(
        maintenance_policies.policy(
            aggregate.metadata.get(names.MAINTENANCE_POLICY)),
        None if maintenance is None else maintenance.begin,
        subject.reaction, CONF.pcloud.maintenance_lead,
        timeutils.utcnow_ts())
    try:
        if what == maintenance_policies.BEGIN and maintenance is not None:
            _begin(context, pcloud, aggregate, subject, maintenance)
        elif what == maintenance_policies.END:
            _end(context, pcloud, aggregate, subject)
    except (allocation.Lost, *outages.ANY) as error:
        LOG.warning('What Pcloud %(pcloud)s does for the maintenance of host '
                    '%(host)s has still to be done: %(error)s', {
                        'pcloud': pcloud.id, 'host': subject.host,
                        'error': error})


def _begin(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: _Subject,
    maintenance: maintenance_windows.Maintenance,
) -> None:
    """Drain a host, and have a host stand in where the policy says so.

    None stands in for a spare, which takes no servers.

    :raises: `allocation.Lost` when another request has got the other host, and
        as `allocation.choose`, `change.run`
    """
    is_replaced = (aggregate.metadata.get(
        names.MAINTENANCE_POLICY) == maintenance_policies.REPLACE and
        subject.host not in stand_ins.kept_spares(aggregate))
    kept = _kept(aggregate, subject, is_replaced)
    joining, failed = None, False
    if kept is None and is_replaced:
        joining = _find_replacement(
            context, pcloud, aggregate, subject, maintenance)
        failed = joining is None
    try:
        _write_begin(context, pcloud, aggregate, subject, maintenance,
                     joining, kept, failed)
    except exception.QuotaExceeded:
        if joining is None:
            raise
        # An administrator has lowered the limit below what is in use.
        _write_begin(context, pcloud, aggregate, subject, maintenance, None,
                     kept, failed=True)


def _kept(
    aggregate: rows.Aggregate, subject: _Subject, is_replaced: bool,
) -> str | None:
    """Return the service host that stands in already, None for no host.

    Where the policy has a host join, a host that has stood in before, and has
    not left yet, does so again.
    """
    there = maintenance_policies.stand_ins(
        names.replaced(aggregate.metadata))
    wanted = [maintenance_policies.StandIn(host=subject.host),
              maintenance_policies.StandIn(spare=True, host=subject.host)] + [
        maintenance_policies.StandIn(True, host=subject.host)] * is_replaced
    return next((host for value in wanted for host in sorted(aggregate.hosts)
                 if there.get(host) == value), None)


def _write_begin(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: _Subject,
    maintenance: maintenance_windows.Maintenance, joining: hosts.Host | None,
    kept: str | None, failed: bool,
) -> None:
    """Write a reaction, unless somebody else has begun or ended one.

    Nor is a reaction written where the maintenance was withdrawn or put off
    meanwhile, or the owner has another policy by now.

    :param joining: the host that is to join, None for no host
    :param kept: the service host that has joined before, None for no host
    :param failed: whether no host could join
    :raises: `allocation.Lost` when the host that has joined has left
    """
    reaction = maintenance_policies.Reaction(
        maintenance.begin, failed,
        kept if joining is None else joining.compute.host)
    wish = draining.Drain(
        int(timeutils.utcnow_ts()), draining.LIVE,
        deadline=maintenance_policies.deadline(
            maintenance.begin, CONF.pcloud.maintenance_lead,
            timeutils.utcnow_ts()))

    def work(written: writes.Rows) -> list[due.Due] | None:
        values = written.values(aggregate.id, subject.keys)
        if not subject.is_as_seen(values) or not subject.is_announced(
                written) or values.get(
                    names.MAINTENANCE_POLICY) != aggregate.metadata.get(
                        names.MAINTENANCE_POLICY):
            return None
        maintenance_drains.begin(
            written, aggregate.id, subject.host, subject.node, values, wish)
        if kept is not None:
            _stand_in_again(written, aggregate, kept, subject.host)
        _keep(written, aggregate.id, subject, reaction)
        return [] if joining is None else stand_ins.write(
            context, written, pcloud, joining, due.REPLACING)

    dues = change.run(context, _anchors(pcloud), work)
    if dues is None:
        return
    if dues and joining is not None:
        allocations.ALLOCATIONS.add(
            [joining.host_flavor or '', allocations.MAINTENANCE])
    if joining is not None:
        stand_ins.finish(context, pcloud, joining, dues)
    _tell(context, pcloud, subject, 'is drained for a maintenance')


def _stand_in_again(
    written: writes.Rows, aggregate: rows.Aggregate, kept: str, host: str,
) -> None:
    """Write that a host which has stood in for another host does so again.

    :param kept: the service host that has stood in
    :param host: the other service host
    :raises: `allocation.Lost` when the host has left, or has another state
    """
    key = names.replaces_key(kept)
    there = maintenance_policies.StandIn.known(
        written.values(aggregate.id, [key]).get(key))
    if there is None or there.host != host:
        raise allocation.Lost('the host that has stood in has left', kept)
    written.exchange(aggregate.id, key, dataclasses.replace(
        there, over=False).text())
    node = names.nodes(aggregate.metadata).get(kept, '')
    maintenance_drains.end(
        written, aggregate.id, kept, node, written.values(
            aggregate.id, [names.state_key(node), names.drain_key(kept)]))


def _find_replacement(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: _Subject,
    maintenance: maintenance_windows.Maintenance,
) -> hosts.Host | None:
    """Choose who stands in, if anybody can, and time to wait for an answer.

    :raises: as `outages.ANY` while a part of the cloud is away, for the first
        half of the time in which the maintenance counts
    """
    try:
        return stand_ins.choose(
            context, pcloud, aggregate, maintenance_policies.StandIn(
                host=subject.host), subject.name)
    except stand_ins.NONE_THERE as error:
        LOG.warning('Host %(host)s of Pcloud %(pcloud)s is going to be in '
                    'maintenance, and no host replaces it: %(error)s', {
                        'host': subject.host, 'pcloud': pcloud.id,
                        'error': error})
        return None
    except outages.ANY as error:
        left = maintenance.begin - timeutils.utcnow_ts()
        if 2 * left > CONF.pcloud.maintenance_lead:
            raise
        LOG.warning('No host replaces host %(host)s of Pcloud %(pcloud)s in '
                    'its maintenance: %(error)s', {
                        'host': subject.host, 'pcloud': pcloud.id,
                        'error': error})
        return None


def _end(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: _Subject,
) -> None:
    """Give a host back the state that the owner had chosen.

    A host that has stood in counts from then on, and has to leave.

    :raises: `exception.HostBusy` when something stays due for the host, and as
        `change.run`
    """
    try:
        done = _write_end(context, pcloud, aggregate, subject)
    except exception.HostBusy:
        reconcile.finish(context, [subject.host])
        done = _write_end(context, pcloud, aggregate, subject)
    if done:
        _tell(context, pcloud, subject, 'is as before its maintenance')


def _write_end(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: _Subject,
) -> bool:
    def work(written: writes.Rows) -> bool:
        values = written.values(aggregate.id, subject.keys)
        if not subject.is_as_seen(values):
            return False
        maintenance_drains.end(
            written, aggregate.id, subject.host, subject.node, values)
        replacements.end(written, aggregate.id, subject.host)
        written.drop(aggregate.id, [names.reaction_key(subject.host)])
        return True

    return change.run(context, _anchors(pcloud), work)


def _attempt_to_send_away(
    context: nova_context.RequestContext, pcloud: pclouds.Head, host: str,
) -> None:
    """Have a host leave whose time was ended by none of Pcloud's changes."""
    try:
        change.run(context, _anchors(pcloud), lambda written: (
            replacements.send_left_behind(
                context, written, pcloud.id, host)))
    except outages.ANY as error:
        LOG.warning('Host %(host)s of Pcloud %(pcloud)s, which has stood in '
                    'for another, has still to leave: %(error)s', {
                        'host': host, 'pcloud': pcloud.id, 'error': error})


def _anchors(pcloud: pclouds.Head) -> list[str]:
    return [journal.pcloud_anchor(pcloud.id),
            journal.owner_anchor(pcloud.owner)]


def _keep(
    written: writes.Rows, aggregate_id: int, subject: _Subject,
    reaction: maintenance_policies.Reaction,
) -> None:
    key = names.reaction_key(subject.host)
    if subject.seen is None:
        written.insert(aggregate_id, {key: reaction.text()})
    else:
        written.exchange(aggregate_id, key, reaction.text())


def _tell(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    subject: _Subject, what: str,
) -> None:
    LOG.info('Host %(host)s of Pcloud %(pcloud)s %(what)s.', {
        'host': subject.host, 'pcloud': pcloud.id, 'what': what})
    if notifications.wanted():
        reconcile.notified(lambda: notifications.host(
            context, 'update', hosts.event_of(pcloud, hosts.show(
                context, pcloud, subject.name))))
