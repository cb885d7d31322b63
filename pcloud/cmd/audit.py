# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage audit``: inconsistencies left by crashes or by hand."""

import argparse
import json

from nova import context as nova_context

from pcloud.audit import all_checks
from pcloud.audit import findings
from pcloud.backend import outages
from pcloud.cmd import seconds
from pcloud import text

NAME = 'audit'
CLEAN, FOUND, PARTLY = 0, 1, 2


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``audit`` to the command line."""
    parser = subparsers.add_parser(
        NAME, help='find what crashes or hands have left behind',
        description='Find hosts in two Pclouds, memberships without '
                    'metadata and the reverse, hosts that Placement does '
                    'not know of, and ratios that drifted. Exits with 0 '
                    'when all is well, also where hosts lack an attribute or '
                    'a placement key that others have, with 1 when anything '
                    'else was found and is not repaired, with 2 when a part '
                    'of the cloud could not be looked at.')
    parser.add_argument('--fix', action='store_true',
                        help='repair what can be repaired')
    parser.add_argument('--format', choices=['text', 'json'],
                        default='text', help='how to print the findings')
    parser.add_argument('--settle', type=seconds.pause, metavar='SECONDS',
                        default=all_checks.SETTLE,
                        help='how long Placement may not have been told of '
                             'a change before that is a finding (default: '
                             '%(default)s)')
    parser.set_defaults(run=run)


def run(command: argparse.Namespace) -> int:
    """Find inconsistencies, repair with ``--fix``, and print the findings.

    :param command: the parsed command line
    :returns: the exit status
    """
    context = nova_context.get_admin_context()
    problems = all_checks.find(context, command.settle)
    gaps = all_checks.gaps(context)
    rows = [_row(finding) for finding in problems]
    if command.fix:
        for row, finding in zip(rows, problems, strict=True):
            row.update(_repair(context, finding))
    if command.format == 'json':
        print(json.dumps({'findings': [*rows, *map(_row, gaps)]}, indent=4))
    else:
        print(_text([*rows, *map(_row, gaps)]))
    if any(finding.kind == findings.NOT_LOOKED_AT
           for finding in [*problems, *gaps]):
        return PARTLY
    return FOUND if any(not row['repaired'] for row in rows) else CLEAN


def _row(finding: findings.Finding) -> dict:
    return {'kind': finding.kind, 'aggregate': finding.aggregate,
            'subject': finding.subject, 'message': finding.message,
            'repairable': finding.repair is not None,
            'repaired': False, 'done': None}


def _repair(
    context: nova_context.RequestContext, finding: findings.Finding,
) -> dict:
    """Repair a finding, and return the changes of the finding's row."""
    if finding.repair is None:
        return {}
    try:
        return {'done': finding.repair(context), 'repaired': True}
    except outages.ANY as error:
        return {'done': f'not repaired: {error}'}


def _text(rows: list[dict]) -> str:
    if not rows:
        return 'All is well.'
    lines = []
    for row in rows:
        subject = f' {row["subject"]}:' if row['subject'] else ''
        lines.append(f'{row["kind"]}: {row["aggregate"]}:{subject} '
                     f'{row["message"]}')
        if row['done']:
            lines.append(f'    {row["done"]}')
        elif row['repairable']:
            lines.append('    --fix repairs it')
        else:
            lines.append('    an administrator has to decide')
    return '\n'.join(map(text.shown, lines))
