# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage``: the commands of operators."""

import argparse
import os
import sys

try:
    from nova import monkey_patch
except ImportError:
    sys.exit("pcloud-manage runs where Nova is installed: pip install "
             "'.[nova]' in a clone of the repository")

# Threads, as in Nova's newer commands; older releases take no argument.
os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', '1')
monkey_patch.patch()

# Nova chooses the kind of threads before other modules are imported.
from nova import config  # noqa: E402
from nova.db.api import api as api_db  # noqa: E402
from nova.db.main import api as main_db  # noqa: E402
from nova import objects  # noqa: E402
from oslo_config import cfg  # noqa: E402
from oslo_db import exception as db_exc  # noqa: E402
from oslo_log import log as logging  # noqa: E402
import stevedore  # noqa: E402

from pcloud.backend.cells import asking  # noqa: E402
from pcloud.backend import outages  # noqa: E402
from pcloud.cmd import audit  # noqa: E402
from pcloud.cmd import closed_pipe  # noqa: E402
from pcloud.cmd import explain  # noqa: E402
from pcloud.cmd import log_lines  # noqa: E402
from pcloud.cmd import metrics  # noqa: E402
from pcloud.cmd import reboot_plan  # noqa: E402
from pcloud.cmd import release  # noqa: E402
from pcloud.cmd import uninstall  # noqa: E402
from pcloud.cmd import work  # noqa: E402
from pcloud import conf  # noqa: E402
from pcloud import exception  # noqa: E402

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

FAILED = 2

# The entry points of commands of other packages. Each is a module with a
# function `add_parser`; such a command asks no cell.
_OTHERS = 'pcloud.manage_commands'
# Commands that ask cells, and do not tell themselves which cells are silent.
_ASK_CELLS = (audit.NAME, explain.NAME, reboot_plan.NAME, uninstall.NAME,
              work.NAME)

# Seconds that a cell has to answer.
_PATIENCE = 5


def _add_commands(subparsers: argparse._SubParsersAction) -> None:
    subparsers.required = True
    audit.add_parser(subparsers)
    explain.add_parser(subparsers)
    metrics.add_parser(subparsers)
    reboot_plan.add_parser(subparsers)
    uninstall.add_parser(subparsers)
    work.add_parser(subparsers)
    for other in stevedore.ExtensionManager(_OTHERS):
        other.plugin.add_parser(subparsers)


def build_parser() -> argparse.ArgumentParser:
    """Return a parser of the command line, from which completions are made.

    The command itself is read by oslo.config, with every option of Nova that
    may stand on a command line.
    """
    parser = argparse.ArgumentParser(
        prog='pcloud-manage', description='The commands of operators.')
    release.add_option(parser)
    for option, metavar, text in (
            ('--config-file', 'PATH', 'a file of configuration; may be given '
                                      'several times'),
            ('--config-dir', 'DIR', 'a folder with *.conf files')):
        parser.add_argument(option, metavar=metavar, action='append',
                            help=text)
    _add_commands(parser.add_subparsers(dest='command', title='Commands'))
    return parser


def _configure_databases() -> None:
    """Make Nova try each database once.

    A service waits for a database, by default ten times ten seconds for each
    database. The user of a command wants to know immediately what is wrong.
    """
    for group in ('database', 'api_database'):
        CONF.set_override('max_retries', 0, group=group)
    main_db.configure(CONF)
    api_db.configure(CONF)


def _runs_on(command: argparse.Namespace) -> bool:
    """Whether a command runs until it is ended, as a service does."""
    if command.name == work.NAME:
        return not command.once
    return command.name == metrics.NAME and command.listen is not None


def _name_silent_cells() -> None:
    """Name the silent cells; a service does not end as a database is away."""
    try:
        silent = asking.silent(_PATIENCE)
    except outages.DATABASE as error:
        if not _runs_on(CONF.command):
            raise
        LOG.warning('Which cells are silent is not known: %(error)s',
                    {'error': error})
        return
    for cell in silent:
        print(f'pcloud-manage: cell {cell} does not answer; what is in there '
              'is not known', file=sys.stderr, flush=True)


@closed_pipe.ends_quietly
def main() -> int:
    """Run the command of the command line.

    :returns: the exit status
    """
    release.answer('pcloud-manage', sys.argv[1:])
    CONF.register_cli_opt(cfg.SubCommandOpt(
        'command', title='Commands', handler=_add_commands))
    conf.register_opts(CONF)
    try:
        config.parse_args(sys.argv, configure_db=False)
    except cfg.Error as error:
        # The status 1 would be taken for an answer.
        print(f'pcloud-manage: {error}', file=sys.stderr)
        return FAILED
    _configure_databases()
    if not (CONF.log_file or CONF.log_dir):
        # Without this oslo.log writes to standard output.
        CONF.set_default('use_stderr', True)
    logging.setup(CONF, 'nova')
    if not _runs_on(CONF.command):
        log_lines.show_warnings_alone(CONF)
    objects.register_all()
    try:
        if CONF.command.name in _ASK_CELLS:
            _name_silent_cells()
        return CONF.command.run(CONF.command)
    except exception.PcloudError as error:
        print(f'pcloud-manage: {error}', file=sys.stderr)
    except db_exc.CantStartEngineError:
        print('pcloud-manage: no configuration names a database; '
              '--config-file takes the nova.conf that has [api_database] '
              'connection', file=sys.stderr)
    except BrokenPipeError:
        raise
    except Exception:
        # The status 1 of a traceback would be taken for an answer.
        LOG.exception('It could not look.')
    return FAILED


if __name__ == '__main__':
    sys.exit(main())
