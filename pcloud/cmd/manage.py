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

"""``pcloud-manage``: what an operator does by hand."""

import json
import os
import sys

try:
    from nova import monkey_patch
except ImportError:
    sys.exit('pcloud-manage runs where Nova is installed: pip install '
             'openstack-pcloud[nova]')

# Threads, as in Nova's newer commands; its older ones know no argument.
os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', '1')
monkey_patch.patch()

# Nova chooses its threads before anything else of it is imported.
from nova import config  # noqa: E402
from nova import context as nova_context  # noqa: E402
from nova import objects  # noqa: E402
from oslo_config import cfg  # noqa: E402
from oslo_log import log as logging  # noqa: E402

from pcloud.aggregates import audit  # noqa: E402
from pcloud import conf  # noqa: E402
from pcloud import exception  # noqa: E402

CONF = cfg.CONF

CLEAN, FOUND, FAILED = 0, 1, 2


def _add_commands(subparsers) -> None:
    subparsers.required = True
    parser = subparsers.add_parser(
        'audit', help='find what crashes or hands have left behind',
        description='Find hosts in two Pclouds, memberships without '
                    'metadata and the reverse, hosts that Placement does '
                    'not know of, and ratios that drifted. Exits with 0 '
                    'when all is well, with 1 when something was found and '
                    'is not repaired, with 2 when it could not look.')
    parser.add_argument('--fix', action='store_true',
                        help='repair what can be repaired')
    parser.add_argument('--format', choices=['text', 'json'],
                        default='text', help='how to print the findings')
    parser.add_argument('--settle', type=float, default=audit.SETTLE,
                        metavar='SECONDS',
                        help='look twice, so long apart, and ignore what '
                             'was only on its way (default: %(default)s)')
    parser.set_defaults(run=run_audit)


def run_audit() -> int:
    """Print what is wrong and, when asked to, repair it.

    :returns: the exit status
    """
    context = nova_context.get_admin_context()
    found = audit.find(context, CONF.command.settle)
    rows = [_row(context, finding) for finding in found]
    if CONF.command.format == 'json':
        print(json.dumps({'findings': rows}, indent=4))
    else:
        print(_text(rows))
    return FOUND if any(not row['repaired'] for row in rows) else CLEAN


def _row(
    context: nova_context.RequestContext, finding: audit.Finding,
) -> dict:
    row = {'kind': finding.kind, 'aggregate': finding.aggregate,
           'subject': finding.subject, 'message': finding.message,
           'repairable': finding.repair is not None,
           'repaired': False, 'done': None}
    if CONF.command.fix and finding.repair is not None:
        try:
            row.update(done=finding.repair(context), repaired=True)
        except exception.PcloudError as error:
            row['done'] = f'not repaired: {error}'
    return row


def _text(rows: list[dict]) -> str:
    if not rows:
        return 'All is well.'
    lines = []
    for row in rows:
        subject = f' {row["subject"]}' if row['subject'] else ''
        lines.append(f'{row["kind"]}: {row["aggregate"]}:{subject}: '
                     f'{row["message"]}')
        if row['done']:
            lines.append(f'    {row["done"]}')
        elif row['repairable']:
            lines.append('    --fix repairs it')
        else:
            lines.append('    an administrator has to decide')
    return '\n'.join(lines)


def main() -> int:
    """Run the command of the command line.

    :returns: the exit status
    """
    CONF.register_cli_opt(cfg.SubCommandOpt(
        'command', title='Commands', handler=_add_commands))
    conf.register_opts(CONF)
    config.parse_args(sys.argv)
    if not (CONF.log_file or CONF.log_dir):
        # Without this oslo.log writes to standard output.
        CONF.set_default('use_stderr', True)
    logging.setup(CONF, 'nova')
    objects.register_all()
    try:
        return CONF.command.run()
    except exception.PcloudError as error:
        print(f'pcloud-manage: {error}', file=sys.stderr)
        return FAILED


if __name__ == '__main__':
    sys.exit(main())
