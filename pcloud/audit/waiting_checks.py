# SPDX-License-Identifier: Apache-2.0

"""Find entries of waiting lists whose Pcloud is gone.

Rule: reference-waiting-kept
"""

from collections.abc import Iterator
import functools

from nova import context as nova_context

from pcloud.audit import findings
from pcloud import names
from pcloud.objects.changing_hands import waiting_entries
from pcloud.objects.changing_hands import waiting_lists
from pcloud.rules import waiting


def check(context: nova_context.RequestContext) -> Iterator[findings.Finding]:
    """Find entries that a worker has still to end.

    One query while nobody waits. The check of the values finds entries that
    cannot be read.
    """
    for each in waiting_lists.all_(context).over:
        if not each.owner:
            yield findings.KeyFinding(
                'waiting-without-pcloud', names.JOURNAL,
                names.waiting_key(each.flavor, each.id),
                f'Pcloud {each.entry.pcloud} is gone, and waits for nothing; '
                'a worker would end the entry',
                functools.partial(_end, each))


def _end(
    entry: waiting.Waiting, context: nova_context.RequestContext,
) -> str:
    waiting_entries.end(context, entry.flavor, [entry])
    return 'the entry is ended'
