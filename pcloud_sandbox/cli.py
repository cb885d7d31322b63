# SPDX-License-Identifier: Apache-2.0

"""``pcloud-sandbox``: a whole OpenStack with Pcloud, on one machine."""

import argparse
import collections
from collections.abc import Callable
import os
import pathlib
import sys

from pcloud.cmd import closed_pipe
from pcloud.cmd import release
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import parts
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors
from pcloud_sandbox.hypervisors import machine
from pcloud_sandbox.running import interrupts

NOT_RUNNING = 3
TAIL_LINES = 25
# The servers of Nova's processes on this machine, as Debian installs them.
DATABASE = 'mysql+pymysql://root@127.0.0.1'
MESSAGING = 'rabbit://guest:guest@127.0.0.1:5672'


def positive(text: str) -> int:
    """Return a number of at least 1, read from an argument."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f'{text}: must be at least 1')
    return number


def common_options(default: str | None) -> argparse.ArgumentParser:
    """Return the options that are allowed before and after the verb.

    :param default: the value of an option that is not given; argparse.SUPPRESS
        after the verb, where a default would replace an option from before the
        verb
    """
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument(
        '--dir', metavar='DIR', default=default, type=pathlib.Path,
        help='the sandbox\'s own folder; two sandboxes need two (default: '
             '$PCLOUD_SANDBOX_DIR, else pcloud-sandbox in $XDG_CACHE_HOME '
             'or ~/.cache)')
    return options


def start_options() -> argparse.ArgumentParser:
    """Return the options of the verbs that start a sandbox."""
    options = argparse.ArgumentParser(add_help=False)
    hosts = options.add_mutually_exclusive_group()
    hosts.add_argument(
        '--hosts', metavar='N', type=positive, default=6,
        help='how many compute hosts (default: 6)')
    hosts.add_argument(
        '--hypervisors', metavar='N', type=positive,
        help='so many compute hosts that run servers: each with a libvirtd '
             'and a QEMU under software emulation, in namespaces of its own. '
             'Needs root and the extra [hypervisors]; --database and '
             '--messaging are those of this machine where they are not given')
    options.add_argument(
        '--port-base', metavar='P', type=int,
        help='listen on P (Keystone), P+1 (Placement), P+2 (Glance), P+3 '
             '(Neutron), P+4 (Nova), P+5 (Horizon) and P+6 (Heat); free '
             'ports are found by default')
    options.add_argument(
        '--database', metavar='URL',
        help='keep the databases on a MariaDB server, with names of their '
             'own: mysql+pymysql://USER:PASSWORD@ADDRESS (default: files)')
    options.add_argument(
        '--messaging', metavar='URL',
        help='run each service of Nova as a process of its own, the API '
             'with 2 workers and 2 schedulers, which talk through a '
             'RabbitMQ: rabbit://USER:PASSWORD@ADDRESS:PORT, with /NAME '
             'for a virtual host that is there; without it one is made. '
             'Needs --database (default: one process)')
    options.add_argument(
        '--cells', metavar='N', type=positive, default=1,
        help='spread the compute hosts over so many cells, each with a '
             'database, a virtual host of the broker and a conductor of its '
             'own. More than one needs --messaging (default: 1)')
    options.add_argument(
        '--dashboard', action='store_true',
        help='run Horizon too, with the panels of Pcloud; needs the extra '
             '[dashboard]')
    options.add_argument(
        '--heat', action='store_true',
        help='run Heat too, with the resources of Pcloud; needs the extra '
             '[heat]')
    options.add_argument(
        '--timeout', metavar='SECONDS', type=positive,
        help='give up when the sandbox is not up after so long (default: '
             'wait as long as the services make progress)')
    options.add_argument(
        '--debug', action='store_true',
        help='let the services log at DEBUG')
    return options


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog='pcloud-sandbox', parents=[common_options(None)],
        description='Run a whole OpenStack with Pcloud on this machine: '
                    'Keystone, Placement, Glance, Neutron and Nova with '
                    'fake compute hosts.')
    release.add_option(parser)
    verbs = parser.add_subparsers(dest='verb', metavar='VERB', required=True)
    after = common_options(argparse.SUPPRESS)

    def verb(
        name: str,
        function: Callable[[argparse.Namespace, layout.Layout], int],
        text: str, *more: argparse.ArgumentParser,
    ) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, parents=[after, *more], help=text,
                                description=text)
        made.set_defaults(function=function)
        return made

    verb('up', do_up, 'start a sandbox, and leave it running',
         start_options())
    down = verb('down', do_down, 'stop it, and remove what it made')
    down.add_argument('--keep', action='store_true',
                      help='leave its logs, databases and configuration; '
                           'the next "up" removes them')
    verb('status', do_status,
         'show what runs and where; the status is 0 when all is well, 1 '
         'when a service has ended, 3 when no sandbox is running')
    stop = verb('stop', do_stop, 'stop one of its services')
    stop.add_argument('service', metavar='SERVICE',
                      help='one that "status" shows')
    start = verb('start', do_start, 'start one of its services that was '
                 'stopped or has ended')
    start.add_argument('service', metavar='SERVICE')
    change = verb('set', do_set, 'set an option of nova.conf, such as one of '
                  '[pcloud], and restart the services that read it')
    change.add_argument('section', metavar='SECTION',
                        help='without brackets: pcloud')
    change.add_argument('option', metavar='OPTION')
    change.add_argument('value', metavar='VALUE')
    unset = verb('unset', do_unset, 'remove an option from nova.conf, so '
                 'that its default is in force')
    unset.add_argument('section', metavar='SECTION')
    unset.add_argument('option', metavar='OPTION')
    env = verb('env', do_env, 'print shell commands that set a user\'s '
               'variables: eval "$(pcloud-sandbox env alice)"')
    env.add_argument('user', metavar='USER', nargs='?', default='admin')
    run = verb('run', do_run, 'run a command with a user\'s variables, in '
               'a running sandbox or in one of its own', start_options())
    run.add_argument('--as', dest='user', metavar='USER', default='admin',
                     help='as whom (default: admin)')
    run.add_argument('command', metavar='-- CMD', nargs='*',
                     help='the command and its arguments')
    return parser


def parse(argv: list[str]) -> argparse.Namespace:
    """Read the command line.

    The arguments after ``--`` are the command of ``run``, and are not parsed.
    """
    parser = build_parser()
    command = []
    if '--' in argv:
        end = argv.index('--')
        argv, command = argv[:end], argv[end + 1:]
    args = parser.parse_args(argv)
    if args.verb == 'run':
        args.command += command
        if not args.command:
            parser.error('run: which command? pcloud-sandbox run -- CMD')
    elif command:
        parser.error(f'{args.verb} takes no command')
    return args


def report(line: str) -> None:
    """Show a line of progress; standard output is for results."""
    print(line, file=sys.stderr, flush=True)


def do_up(args: argparse.Namespace, where: layout.Layout) -> int:
    """Start a sandbox."""
    from pcloud_sandbox import launcher

    chosen = wanted(args, where)
    launcher.up(where, chosen, args.port_base, attached=False,
                timeout=args.timeout, report=report)
    network = ('Servers run without a network ("--nic none").'
               if chosen.hypervisors else
               'Servers get an address in the network "shared".')
    print(f'The sandbox in {where.directory} is up. Be one of '
          f'{", ".join(settings.USERS)}:\n'
          f'    eval "$({own_command(args)} env alice)"\n'
          f'{network} There are no volumes.')
    if chosen.dashboard:
        print(f'Horizon: {chosen.url("horizon")}/ - log in as one of them, '
              f'with the password {chosen.password}')
    return 0


def wanted(args: argparse.Namespace,
           where: layout.Layout) -> settings.Settings:
    """Return the settings of a new sandbox, from the options.

    :raises NotInstalled: the options need a package that is missing
    :raises SandboxError: the machine cannot run hypervisors
    """
    if args.dashboard:
        parts.check_dashboard_installed()
    if args.heat:
        parts.check_heat_installed()
    database, messaging = args.database, args.messaging
    if args.hypervisors is not None:
        machine.check(where)
        database = database or DATABASE
        messaging = messaging or MESSAGING
    return settings.Settings(
        hosts=args.hypervisors or args.hosts, ports={}, debug=args.debug,
        database=database, messaging=messaging, cells=args.cells,
        hypervisors=args.hypervisors is not None, dashboard=args.dashboard,
        heat=args.heat)


def own_command(args: argparse.Namespace) -> str:
    """Return the command line of this program for the same sandbox."""
    return f'pcloud-sandbox --dir {args.dir}' if args.dir else (
        'pcloud-sandbox')


def do_down(args: argparse.Namespace, where: layout.Layout) -> int:
    """Stop a sandbox."""
    from pcloud_sandbox import launcher

    # Ctrl-C would leave a half of the sandbox.
    with interrupts.held():
        was_running = launcher.down(where, args.keep)
    if was_running:
        print(f'The sandbox in {where.directory} is down.')
    else:
        print(f'No sandbox was running in {where.directory}.')
    return 0


def do_status(args: argparse.Namespace, where: layout.Layout) -> int:
    """Show a sandbox."""
    from pcloud_sandbox import launcher

    state = launcher.running(where)
    if state is None:
        print(f'No sandbox is running in {where.directory}.')
        return NOT_RUNNING
    print(f'A sandbox is running in {where.directory}.')
    print(f'Hosts: {", ".join(state.settings.host_names())}')
    if state.settings.cells > 1:
        for cell, hosts in state.settings.cell_hosts().items():
            print(f'In {cell}: {", ".join(hosts)}')
    print(f'Logs: {where.logs}')
    services = launcher.service_states(where, state)
    width = max(len(name) for name, *_ in services)
    for name, url, pid, up in services:
        shown = 'up' if up else 'down'
        print(f'{name:{width}} {shown:5} {pid or "-":>8}  {url or "-"}')
    return 0 if all(up for *_, up in services) else 1


def do_stop(args: argparse.Namespace, where: layout.Layout) -> int:
    """Stop one service."""
    from pcloud_sandbox import launcher

    launcher.stop_service(where, args.service)
    return 0


def do_start(args: argparse.Namespace, where: layout.Layout) -> int:
    """Start one service."""
    from pcloud_sandbox import launcher

    launcher.start_service(where, args.service)
    return 0


def do_set(args: argparse.Namespace, where: layout.Layout) -> int:
    """Set an option of nova.conf."""
    from pcloud_sandbox import launcher

    launcher.set_option(
        where, args.section, args.option, args.value, report)
    return 0


def do_unset(args: argparse.Namespace, where: layout.Layout) -> int:
    """Remove an option from nova.conf."""
    from pcloud_sandbox import launcher

    launcher.unset_option(where, args.section, args.option, report)
    return 0


def do_env(args: argparse.Namespace, where: layout.Layout) -> int:
    """Print a user's variables."""
    from pcloud_sandbox.configuration import environment
    from pcloud_sandbox import launcher

    state = launcher.need_running(where)
    print('\n'.join(environment.shell_lines(state.settings, args.user)))
    return 0


def do_run(args: argparse.Namespace, where: layout.Layout) -> int:
    """Run a command in the running sandbox, else in a temporary sandbox."""
    from pcloud_sandbox import command
    from pcloud_sandbox.configuration import environment
    from pcloud_sandbox import launcher

    state = launcher.running(where)
    if state is not None:
        return command.run(args.command, state.settings, args.user)
    environment.check_user(args.user)
    chosen = wanted(args, where)
    with interrupts.held():
        with interrupts.delivered():
            launcher.up(where, chosen, args.port_base, attached=True,
                        timeout=args.timeout, report=report)
        try:
            with interrupts.delivered():
                return command.run(args.command, chosen, args.user)
        finally:
            launcher.down(where, keep=False)


def tail(path: str) -> str:
    """Return the name and the last lines of a log; '' without a log."""
    if not os.path.exists(path):
        return ''
    with open(path, errors='replace') as stream:
        lines = collections.deque(stream, maxlen=TAIL_LINES)
    return f'The end of {path}:\n' + ''.join(
        f'    {line}' for line in lines)


@closed_pipe.ends_quietly
def main(argv: list[str] | None = None) -> int:
    """Run the command line, and return the exit status."""
    args = parse(sys.argv[1:] if argv is None else argv)
    where = layout.Layout(args.dir or layout.default_directory())
    interrupts.end_the_program()
    try:
        parts.check_installed()
        return args.function(args, where)
    except interrupts.Interrupted:
        report('pcloud-sandbox: interrupted')
        return 130
    except errors.SandboxError as error:
        log = getattr(error, 'log', None)
        if log:
            report(tail(log))
        report(f'pcloud-sandbox: {error}')
        return getattr(error, 'status', 1)


if __name__ == '__main__':
    sys.exit(main())
