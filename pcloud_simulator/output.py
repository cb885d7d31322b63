# SPDX-License-Identifier: Apache-2.0

"""The outcomes of simulated policies, as table, JSON or CSV."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import csv
import io
import json
from typing import TypeAlias

import prettytable

from pcloud_simulator import replay

# Lines with the same columns.
Table: TypeAlias = Sequence[Mapping[str, str | float]]


def summary(
    outcomes: Sequence[replay.Outcome], platforms: Sequence[str],
) -> Table:
    """Return a line for each policy.

    :param platforms: from old to new
    """
    return [{
        'Policy': outcome.policy,
        'Launches': outcome.launches,
        'Refused': outcome.last.refused,
        'Servers Hit': outcome.last.servers_hit,
        'Hosts Hit': outcome.last.reboots_with_servers,
        **_ends(outcome, platforms),
        'Empty Hosts': round(outcome.mean_empty_hosts(), 1),
        'Fragmentation %': _percent(outcome.mean_fragmentation()),
    } for outcome in outcomes]


def _ends(
    outcome: replay.Outcome, platforms: Sequence[str],
) -> dict[str, float]:
    """Return where servers are at the end, where hosts have platforms."""
    if not platforms:
        return {}
    return {'Oldest %': _percent(outcome.on(platforms[0])),
            'Newest %': _percent(outcome.on(platforms[-1]))}


def _percent(part: float) -> float:
    return round(100 * part, 1)


def over_time(
    outcomes: Sequence[replay.Outcome], platforms: Sequence[str],
) -> Table:
    """Return a line for each look at each policy's cloud.

    :param platforms: from old to new
    """
    none = {'No Platform'} if any(
        look.by_platform.get(None)
        for outcome in outcomes for look in outcome.looks) else set()
    return [{
        'Policy': outcome.policy,
        'Day': round(look.day, 2),
        'Servers': look.servers,
        **{platform: look.by_platform.get(platform, 0)
           for platform in platforms},
        **{name: look.by_platform.get(None, 0) for name in none},
        'Refused': look.refused,
        'Servers Hit': look.servers_hit,
        'Empty Hosts': look.empty_hosts,
        'Fragmentation %': _percent(look.fragmentation),
    } for outcome in outcomes for look in outcome.looks]


def _table(lines: Table) -> str:
    table = prettytable.PrettyTable(list(lines[0]))
    table.align = 'r'
    table.align['Policy'] = 'l'
    for line in lines:
        table.add_row(list(line.values()))
    return str(table.get_string())


def _json(lines: Table) -> str:
    return json.dumps(lines, indent=2)


def _csv(lines: Table) -> str:
    file = io.StringIO()
    writer = csv.writer(
        file, quoting=csv.QUOTE_NONNUMERIC, lineterminator='\n')
    writer.writerow(list(lines[0]))
    writer.writerows(list(line.values()) for line in lines)
    return file.getvalue().rstrip('\n')


FORMATS: Mapping[str, Callable[[Table], str]] = {
    'table': _table, 'json': _json, 'csv': _csv}
