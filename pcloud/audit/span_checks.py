# SPDX-License-Identifier: Apache-2.0

"""Find hosts whose spans do not say since when they are held, and by whom.

Rule: reference-usage-audit
"""

from collections.abc import Iterator
import functools

from nova import context as nova_context

from pcloud.audit import findings
from pcloud.audit import row_checks
from pcloud.backend.aggregates import closed_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.aggregates import span_rows
from pcloud.backend.changes import change
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import spans
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud import names
from pcloud.objects import replacements
from pcloud.rules.usage import ledger

_DONE = 'it was done meanwhile'


def check(known: row_checks.Known) -> Iterator[findings.Finding]:
    """Compare the spans of hosts with the memberships; no query.

    The check of the values finds spans that cannot be read.
    """
    pclouds = {pcloud.metadata[names.ID]: pcloud
               for pcloud in pcloud_rows.whole(known.aggregates)}
    held = names.stripped(known.kept, names.SPAN_PREFIX)
    for host, text in sorted(held.items()):
        span = ledger.Span.known(text)
        if span is None:
            continue
        if span.pcloud not in known.pclouds_of.get(host, ()):
            yield findings.KeyFinding(
                'span-without-host', names.JOURNAL, names.span_key(host),
                f'{host} is not in Pcloud {span.pcloud} any more, whose owner '
                'it still counts for',
                functools.partial(_close, host, text))
        elif span.pcloud in pclouds and not _is_right(
                known, pclouds[span.pcloud], host, span):
            yield findings.KeyFinding(
                'span-not-right', names.JOURNAL, names.span_key(host),
                f'{host} does not count for the owner of its Pcloud and for '
                f'its host flavor: {text}',
                functools.partial(
                    _replace, pclouds[span.pcloud], host, text,
                    _flavor(known, host)))
    for pcloud in pclouds.values():
        for host in sorted(pcloud.hosts - held.keys()):
            if host in known.pools_of:
                yield findings.Finding(
                    'host-without-span', pcloud.name, host,
                    'it does not count in what the owner of the Pcloud has '
                    'held of hosts',
                    functools.partial(
                        _begin, pcloud, host, _flavor(known, host)))


def _flavor(known: row_checks.Known, host: str) -> str:
    return known.pools_of[host][0] if host in known.pools_of else ''


def _is_right(
    known: row_checks.Known, pcloud: rows.Aggregate, host: str,
    span: ledger.Span,
) -> bool:
    """Whether a span is for the owner and the host flavor of a host.

    A host in no pool is a finding of its own.
    """
    return host not in known.pools_of or (
        span.flavor in known.pools_of[host] and
        span.project == pcloud.metadata.get(names.OWNER))


def _close(
    host: str, text: str, context: nova_context.RequestContext,
) -> str:
    """End the span of a host that has left its Pcloud by other means.

    The span ends now: nobody knows when the host has left.

    :param host: the service host
    :param text: the span as written
    """
    span = ledger.Span.read(text)

    def work(written: writes.Rows) -> bool:
        # No other change of the host is made meanwhile.
        try:
            written.claim(host, due.Due(written.mark))
        except exception.KeyTaken:
            raise exception.HostBusy(name=host)
        done = names.pcloud(span.pcloud) not in {
            there.name for there in closed_rows.closed_of(context, host)
        } and written.drop_kept(names.span_key(host), text)
        if done:
            spans.add_to_sums(written, text, 0)
        written.unmark([names.due_key(host)])
        return done

    done = change.run(context, _anchors(span.pcloud, span.project), work)
    return 'it counts no more' if done else _DONE


def _replace(
    pcloud: rows.Aggregate, host: str, text: str, flavor: str,
    context: nova_context.RequestContext,
) -> str:
    """End a span that is not right, and begin the right one now.

    :param host: the service host
    :param text: the span as written
    :param flavor: the id of the host flavor of the host
    """
    span, owner = ledger.Span.read(text), pcloud.metadata.get(names.OWNER, '')

    def work(written: writes.Rows) -> bool:
        if not written.holds(pcloud.id, host) or not written.drop_kept(
                names.span_key(host), text):
            return False
        spans.add_to_sums(written, text, 0)
        written.insert(pcloud.id, {names.span_key(host): spans.begun(
            flavor, pcloud.metadata[names.ID], owner,
            _is_free(pcloud, host))})
        return True

    done = change.run(context, [
        *_anchors(span.pcloud, span.project), journal.owner_anchor(owner)],
        work)
    return 'it counts for its owner and host flavor now' if done else _DONE


def _begin(
    pcloud: rows.Aggregate, host: str, flavor: str,
    context: nova_context.RequestContext,
) -> str:
    """Write since when a host is in its Pcloud, as Nova's own row says.

    :param host: the service host
    :param flavor: the id of the host flavor of the host
    """
    key, owner = names.span_key(host), pcloud.metadata.get(names.OWNER, '')
    since = span_rows.joined(context, pcloud.id, host)

    def work(written: writes.Rows) -> bool:
        if since is None or not written.holds(pcloud.id, host) or (
                written.values(pcloud.id, [key])):
            return False
        written.insert(pcloud.id, {key: ledger.Span(
            flavor, pcloud.metadata[names.ID], since,
            free=_is_free(pcloud, host), project=owner).text()})
        return True

    done = change.run(context, _anchors(
        pcloud.metadata[names.ID], owner), work)
    return 'it counts since it has joined the Pcloud' if done else _DONE


def _is_free(pcloud: rows.Aggregate, host: str) -> bool:
    """Whether a host counts nothing, as it stands in for another host."""
    return host not in replacements.counted(pcloud)


def _anchors(pcloud_id: str, project_id: str) -> list[str]:
    return [journal.pcloud_anchor(pcloud_id), journal.owner_anchor(project_id)]
