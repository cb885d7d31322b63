# SPDX-License-Identifier: Apache-2.0
"""Find what a hand or an outage has left behind, and the repairs.

A change is one transaction, so that no crash leaves half of a change. What is
due for a host is a row until Placement has been told; hosts, names and keys
that were changed by other means do not fit together any more.

Each part is checked alone: the silence of one part of the cloud hides no
finding in another part.

Rule: reference-states-inconsistent, reference-metadata-whole
"""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import functools
import time

from nova import context as nova_context
from oslo_utils import timeutils

from pcloud.audit import attribute_checks
from pcloud.audit import findings
from pcloud.audit import gap_checks
from pcloud.audit import home_checks
from pcloud.audit import placement_checks
from pcloud.audit import project_checks
from pcloud.audit import repair
from pcloud.audit import row_checks
from pcloud.audit import span_checks
from pcloud.audit import value_checks
from pcloud.audit import waiting_checks
from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import maintenance_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.calls import closed_services
from pcloud.backend.cells import arrivals
from pcloud.backend.cells import computes
from pcloud.backend.cells import stray_services
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend import outages
from pcloud.backend import request_specs
from pcloud import exception
from pcloud import names
from pcloud.objects import reconcile
from pcloud.rules.moving import maintenance_windows
from pcloud import text

# Seconds after which what is due for a host is taken for stuck, and not for
# a request at work. Nothing depends on the number: to reconcile a host twice
# at the same moment does no harm.
SETTLE = 5.0


def find(
    context: nova_context.RequestContext, settle: float = SETTLE,
) -> list[findings.Finding]:
    """Return what is wrong, and what could not be looked at.

    Hosts with a due row are left out of the comparison with
    Placement: the rows show that a request may be at work.

    :param settle: the seconds for which a row may be due for a host
        without a finding
    :raises: `oslo_db.exception.DBError` when the rows cannot be read
    """
    marks = journal.marks(context)
    known = _read(context)
    parts: list[tuple[str, Callable[[], Iterator[findings.Finding]]]] = [
        ('the rows', functools.partial(row_checks.check, known)),
        ('what hosts come to', functools.partial(span_checks.check, known)),
        ('hosts let go', functools.partial(row_checks.check_released, known)),
        ('what runs on hosts', functools.partial(_check_servers, known)),
        ('Placement', functools.partial(placement_checks.check, known)),
        ('allocations', functools.partial(
            placement_checks.check_consumers, known)),
        ('services', functools.partial(_check_services, known)),
        ('maintenances', functools.partial(_check_closed, known)),
        ('host attributes', functools.partial(
            attribute_checks.check, context)),
        ('values', functools.partial(value_checks.check, context)),
        ('who waits', functools.partial(waiting_checks.check, context)),
        ('Keystone', functools.partial(project_checks.check, context)),
        ('shelved servers', functools.partial(
            home_checks.check, context, known.aggregates)),
    ]
    problems = _silent(known)
    for what, check in parts:
        problems += _look(what, check)
    return _unchanged(context, known, marks, problems) + _look(
        'what is due', functools.partial(_stuck, context, known.dues, settle))


def gaps(context: nova_context.RequestContext) -> list[findings.Finding]:
    """Return which hosts lack what other hosts have.

    Everything is right for all that, so nobody has to be alarmed.
    """
    return [finding for what, check in (
        ('attributes of hosts', gap_checks.check_attributes),
        ('placement keys', gap_checks.check_keys))
        for finding in _look(what, functools.partial(check, context))]


def _unchanged(
    context: nova_context.RequestContext, known: row_checks.Known,
    marks: Mapping[str, str], problems: list[findings.Finding],
) -> list[findings.Finding]:
    """Leave out findings about what a request has changed during the audit.

    The marks of the changes show also a change taken back again; the rows show
    what was written by other means.

    :param marks: the marks of all changes before the audit
    """
    dues = journal.dues(context)
    marked = journal.marks(context)
    now = {aggregate.name: aggregate
           for aggregate in isolation.closed_aggregates(context)}
    changed = {aggregate.name for aggregate in known.aggregates
               if now.get(aggregate.name) != aggregate or
               _marks_of(aggregate, marks) != _marks_of(aggregate, marked)}
    at_work = {host for host in dues if known.dues.get(host) != dues[host]}
    kept = kept_rows.every(context)
    at_work |= {key for key, value in known.kept.items()
                if kept.get(key) != value}
    return [finding for finding in problems
            if finding.aggregate not in changed and
            finding.subject not in at_work]


def _marks_of(
    aggregate: rows.Aggregate, marks: Mapping[str, str],
) -> tuple[str | None, str | None]:
    """Return the marks of the changes of a Pcloud or pool, whole or not."""
    metadata = aggregate.metadata
    return (marks.get(journal.pcloud_anchor(metadata.get(names.ID, ''))),
            marks.get(journal.flavor_anchor(
                metadata.get(names.FLAVOR_ID, ''))))


def _read(context: nova_context.RequestContext) -> row_checks.Known:
    # Before the rows: a host that leaves meanwhile has a due row, or its
    # Pcloud has changed.
    unopened = journal.unopened(context)
    kept = kept_rows.every(context)
    aggregates = isolation.closed_aggregates(context)
    # After the rows: what was due before may have been done by then, and
    # what is due since is not to be found in the rows.
    dues = journal.dues(context)
    hosts = frozenset().union(*(aggregate.hosts for aggregate in aggregates))
    return row_checks.Known(
        context, aggregates, computes.load(context, hosts), dues,
        unopened, kept)


def _look(
    what: str, check: Callable[[], Iterator[findings.Finding]],
) -> list[findings.Finding]:
    """Return the findings of a check until a part of the cloud is silent."""
    problems: list[findings.Finding] = []
    try:
        for finding in check():
            problems.append(finding)
    except outages.ANY as error:
        problems.append(findings.Finding(
            findings.NOT_LOOKED_AT, what, '', str(error)))
    return problems


def _silent(known: row_checks.Known) -> list[findings.Finding]:
    silent = sorted(host for host, compute in known.computes.items()
                    if not compute.answered)
    if not silent:
        return []
    return [findings.Finding(
        findings.NOT_LOOKED_AT, 'cells', '',
        text.counted(len(silent), 'host is', 'hosts are') +
        ' in a cell that does not answer: ' + ', '.join(silent))]


def _check_servers(known: row_checks.Known) -> Iterator[findings.Finding]:
    """Find servers on hosts to which the servers have no right."""
    hosts = [host for host, compute in known.computes.items()
             if compute.answered]
    servers = computes.instances(known.context, hosts)
    hints = request_specs.hints(
        known.context, frozenset().union(*servers.values()))
    for aggregate in known.aggregates:
        yield from row_checks.check_servers(known, aggregate, servers, hints)


def _check_services(known: row_checks.Known) -> Iterator[findings.Finding]:
    """Find hosts with a compute service of the same name in another cell."""
    for host, cells in sorted(stray_services.find(
            known.context, known.computes).items()):
        yield findings.Finding(
            'host-in-two-cells', '', host,
            'a compute service of this name is also in ' +
            ', '.join(cells) + ', to which Nova does not map the host; the '
            'service is ignored. Delete it there, or give it another name')


def _check_closed(known: row_checks.Known) -> Iterator[findings.Finding]:
    """Find hosts that are closed for an absent maintenance."""
    values = {row.host: row.value for row
              in maintenance_rows.maintenances(known.context)}
    for host in sorted(closed_services.hosts(known.context)):
        kept = maintenance_windows.KeptMaintenance.known(values.get(host))
        if kept is None or not kept.open and not (
                kept.maintenance and kept.maintenance.has_begun(
                    timeutils.utcnow_ts())):
            yield findings.Finding(
                'closed-without-maintenance', '', host,
                'its compute service is disabled for a maintenance that is '
                'over, or has not begun',
                functools.partial(repair.open_again, host))


def _stuck(
    context: nova_context.RequestContext, dues: Mapping[str, str],
    settle: float,
) -> Iterator[findings.Finding]:
    """Find hosts that no request has reconciled for a while.

    A host that settles is no finding, unless the host would never settle: all
    requests are over, and the host is still not empty.
    """
    if dues and settle:
        time.sleep(settle)
        now = journal.dues(context)
        dues = {host: text for host, text in dues.items()
                if now.get(host) == text}
    settling = due.settling({
        host: due.parse(text) for host, text in dues.items()})
    for host in sorted(dues.keys() - settling.keys()):
        yield _unfinished(host)
    for host in sorted(settling.keys() - arrivals.awaited(context, settling)):
        if not reconcile.is_empty(context, host):
            yield _unfinished(host)


def _unfinished(host: str) -> findings.Finding:
    return findings.Finding(
        'change-not-finished', names.JOURNAL, host,
        'Placement or the compute service has still to be told of a change, '
        'or the host has still to be found empty; the host takes no servers '
        'until then', functools.partial(_finish, host))


def _finish(host: str, context: nova_context.RequestContext) -> str:
    if not reconcile.host(context, host):
        raise exception.HostNotEmpty(
            host=host, reasons='everything has been told, and the host '
                               'waits until it is empty')
    return 'everything has been told'
