# SPDX-License-Identifier: Apache-2.0

"""The hosts of a Pcloud that may have failed, and their recoveries as kept.

Rule: reference-recovery
"""

from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from oslo_log import log as logging

from pcloud.backend.aggregates import rows
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud import names
from pcloud.objects import hosts
from pcloud.objects import notifications
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.objects import replacements
from pcloud.rules.moving import recovery

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Subject:
    """A host of a Pcloud with a recovery to begin, to go on or to end.

    :ivar host: the service host
    :ivar node: the hypervisor hostname
    :ivar name: the owner's name for the host
    :ivar seen: the recovery as written, None without a recovery
    :ivar other: the service host joined for the recovery, None without one
    """

    host: str
    node: str
    name: str
    seen: str | None
    other: str | None

    @property
    def kept(self) -> recovery.Recovery | None:
        """The recovery so far; None also for an unreadable recovery."""
        return recovery.Recovery.known(self.seen)

    @property
    def keys(self) -> list[str]:
        """The metadata keys that say what the host is at present."""
        return [names.host_key(self.name), names.recovery_key(self.host),
                names.reaction_key(self.host), names.state_key(self.node),
                names.HOST_RECOVERY]

    def is_as_seen(self, values: Mapping[str, str]) -> bool:
        """Whether no other process has written a recovery meanwhile.

        :param values: the present metadata values of `keys`
        """
        return (values.get(names.host_key(self.name)) == self.node and
                values.get(names.recovery_key(self.host)) == self.seen)


def all_of(aggregate: rows.Aggregate) -> list[Subject]:
    """Return the hosts of a Pcloud, by the service hosts."""
    node_of, seen = (names.nodes(aggregate.metadata),
                     names.recoveries(aggregate.metadata))
    name_of = {node: name for name, node
               in names.hosts(aggregate.metadata).items()}
    return [Subject(host, node_of[host], name_of[node_of[host]],
                    seen.get(host), replacements.standing_in(aggregate, host))
            for host in sorted(aggregate.hosts)
            if node_of.get(host) in name_of]


def policy(aggregate: rows.Aggregate) -> str:
    """Return what the owner wishes for failed hosts."""
    return recovery.policy(aggregate.metadata.get(names.HOST_RECOVERY))


def is_wanted(
    aggregate: rows.Aggregate, subject: Subject, values: Mapping[str, str],
) -> bool:
    """Whether the rows and the policy are as they were seen."""
    return subject.is_as_seen(values) and values.get(
        names.HOST_RECOVERY) == aggregate.metadata.get(names.HOST_RECOVERY)


def keep(
    written: writes.Rows, aggregate_id: int, subject: Subject,
    kept: recovery.Recovery,
) -> None:
    """Write the recovery of a host in place of the recovery as seen."""
    key = names.recovery_key(subject.host)
    if subject.seen is None:
        written.insert(aggregate_id, {key: kept.text()})
    else:
        written.exchange(aggregate_id, key, kept.text())


def anchors(pcloud: pclouds.Head) -> list[str]:
    """Return the anchors of the changes of recoveries."""
    return [journal.pcloud_anchor(pcloud.id),
            journal.owner_anchor(pcloud.owner)]


def tell(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    subject: Subject, state: str, since: int,
) -> None:
    """Tell listeners of a committed step of a recovery."""
    LOG.info('The recovery of host %(host)s of Pcloud %(pcloud)s: %(state)s.',
             {'host': subject.host, 'pcloud': pcloud.id, 'state': state})

    def notify() -> None:
        event = event_of(context, pcloud, subject, state, since)
        if event is not None:
            notifications.recovery(context, event)

    reconcile.notified(notify)


def event_of(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    subject: Subject, state: str, since: int,
) -> notifications.RecoveryEvent | None:
    """Return what to tell listeners, None without listeners."""
    if not notifications.wanted():
        return None
    host = hosts.show(context, pcloud, subject.name)
    return notifications.RecoveryEvent(
        pcloud_id=pcloud.id, owner=pcloud.owner, name=host.name,
        host_flavor=host.host_flavor, availability_zone=host.compute.zone,
        state=state, since=since, replacement=host.recovered_by)
