# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage simulate-policy``: weights tried on a cloud's history.

Nothing of a cloud is asked: the command reads files, and prints what would
have become of the servers.

Rule: reference-simulation
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from collections.abc import Sequence
import datetime
import pathlib
import random
import sys

from pcloud import exception
from pcloud import text
from pcloud_simulator import azure_trace
from pcloud_simulator import fleets
from pcloud_simulator import input_values
from pcloud_simulator import output
from pcloud_simulator import replay
from pcloud_simulator import server_list
from pcloud_simulator import svg_plot
from pcloud_simulator import text_files
from pcloud_simulator import weight_sets
from pcloud_simulator import workload

NAME = 'simulate-policy'
DONE, BAD_INPUT = 0, 1

# vcpus, GB of memory, GB of disk.
_SHAPE = '48,192,2000'
_MB = 1024

# More would take hours, or all memory.
_MOST_HOSTS, _MOST_LOOKS = 100_000, 10_000
# As [pcloud] reboot_bucket_days.
_MOST_BUCKET_DAYS = 3650
# The beginning of a file, which tells JSON from CSV.
_HEAD = 1024


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``simulate-policy`` to the command line."""
    parser = subparsers.add_parser(
        NAME, help='try weights of weighers on a history of servers',
        description='Place the servers of a trace on hosts, once with each '
                    'set of weights, and compare what becomes of the cloud. '
                    'No cloud is asked. Exits with 0, or with 1 when a file '
                    'or an option cannot be used.')
    parser.add_argument('trace', metavar='TRACE',
                        help='a CSV file with the columns of the Azure '
                             'Public Dataset; or what "openstack server '
                             'list --all --long -f json" printed; also '
                             'packed with gzip')
    _add_hosts(parser)
    _add_policies(parser)
    _add_server_lists(parser)
    _add_outputs(parser)
    parser.set_defaults(run=run)


def _add_hosts(parser: argparse.ArgumentParser) -> None:
    hosts = parser.add_mutually_exclusive_group(required=True)
    hosts.add_argument('--hosts-file', metavar='FILE',
                       help='the hosts and their attributes, as CSV')
    hosts.add_argument('--hosts', metavar='N',
                       help='make up N hosts, at most 100000, with four '
                            'platforms')
    parser.add_argument('--host-size', metavar='SIZE',
                        action='append', default=[],
                        help='cpus, GB of memory and perhaps GB of disk of '
                             'hosts that are made up; may be repeated for '
                             f'hosts of several sizes (default: {_SHAPE})')


def _add_policies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--weights', action='append', default=[],
                        metavar='WEIGHTS',
                        help='a policy beside the defaults of Nova and of '
                             'Pcloud, such as rfd24:platform=1.0,ram=-0.2,'
                             'reboot=0.1, with or without a name; weighers '
                             'that are not there have no weight; subset=N '
                             'is host_subset_size; may be '
                             'repeated')
    parser.add_argument('--bucket-days', metavar='DAYS', default='7',
                        help='[pcloud] reboot_bucket_days (default: '
                             '%(default)s)')
    parser.add_argument('--begin', metavar='MOMENT',
                        help='when the trace begins, where its times are '
                             'seconds, or the moment of the list of servers')
    parser.add_argument('--seed', metavar='N', default='1',
                        help='of chance: the same seed gives the same result '
                             '(default: %(default)s)')


def _add_server_lists(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--flavors', metavar='FILE',
                        help='for a list of servers: what "openstack flavor '
                             'list --all -f json" printed')
    parser.add_argument('--days', metavar='DAYS', default='60',
                        help='for a list of servers: how long servers come '
                             'and go (default: %(default)s)')
    parser.add_argument('--lifetime', metavar='DAYS',
                        help='for a list of servers: how long a server lives '
                             'on average (default: the average age of the '
                             'servers, or 30)')


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('-f', '--format', choices=['csv', 'json', 'table'],
                        default='table', help='how to print the result')
    parser.add_argument('--over-time', action='store_true',
                        help='print a line for each look at the cloud, and '
                             'not only a line for each policy')
    parser.add_argument('--looks', metavar='N', default='15',
                        help='how often to look at the cloud, from the '
                             'beginning to the end (default: %(default)s)')
    parser.add_argument('--plot', metavar='FILE',
                        help='write a picture to this file, as SVG')


def run(command: argparse.Namespace) -> int:
    """Simulate, and print what becomes of the cloud under each policy.

    :param command: the parsed command line
    :returns: the exit status
    """
    try:
        policies = weight_sets.several(command.weights)
        world = _world(command)
        _check_plot(command)
        for note in _notes(world):
            print(f'pcloud-manage: {note}', file=sys.stderr)
        outcomes = [replay.run(world, weights) for weights in policies]
        _show(command, outcomes, fleets.platforms(world.hosts))
    except exception.Invalid as error:
        print(f'pcloud-manage: {error}', file=sys.stderr)
        return BAD_INPUT
    return DONE


def _notes(world: replay.World) -> Iterator[str]:
    yield from world.trace.notes
    count = replay.too_large(world)
    if count:
        yield text.counted(
            count,
            'server is larger than what any host has, and is refused',
            'servers are larger than what any host has, and are refused',
        ) + ' by every policy.'


def _show(
    command: argparse.Namespace, outcomes: Sequence[replay.Outcome],
    platforms: Sequence[str],
) -> None:
    table = output.over_time if command.over_time else output.summary
    print(output.FORMATS[command.format](table(outcomes, platforms)))
    if command.plot:
        _write_plot(command, 'w', svg_plot.draw(outcomes, platforms))


def _check_plot(command: argparse.Namespace) -> None:
    """Check that a picture can be written, before minutes are computed."""
    if command.plot:
        _write_plot(command, 'a', '')


def _write_plot(command: argparse.Namespace, mode: str, text: str) -> None:
    try:
        with open(command.plot, mode, encoding='utf-8') as file:
            file.write(text)
    except OSError as error:
        raise exception.InputUnreadable(
            path=command.plot, reason=text_files.why(error))


def _world(command: argparse.Namespace) -> replay.World:
    """Read the trace and the hosts.

    :raises: `exception.Invalid` for a file or an option that cannot be used
    """
    looks = _between(command, 'looks', 2, _MOST_LOOKS)
    bucket_days = _between(command, 'bucket_days', 1, _MOST_BUCKET_DAYS)
    hosts, shapes = _hosts(command)
    trace = _trace(command, hosts, shapes)
    begin = _begin(command, trace, hosts)
    return replay.World(
        trace, hosts or fleets.make(
            _between(command, 'hosts', 1, _MOST_HOSTS), shapes, begin,
            trace.seconds),
        begin, datetime.timedelta(days=bucket_days), _whole(command, 'seed'),
        looks)


def _hosts(
    command: argparse.Namespace,
) -> tuple[Sequence[fleets.FleetHost], Sequence[fleets.Shape]]:
    """Return the hosts of the file, and the shapes of all hosts.

    Hosts that are made up are not returned: their reboots depend on the trace.
    """
    if command.hosts_file is None:
        return (), [_shape(text) for text in command.host_size or [_SHAPE]]
    if command.host_size:
        raise exception.Invalid(
            '--host-size is for hosts that are made up with --hosts; '
            'the file of hosts says how large its hosts are.')
    hosts = fleets.read(command.hosts_file)
    return hosts, [host.shape for host in hosts]


def _place(option: str) -> str:
    return f'--{option.replace("_", "-")}'


def _whole(command: argparse.Namespace, option: str) -> int:
    return input_values.whole(getattr(command, option), _place(option))


def _between(
    command: argparse.Namespace, option: str, least: int, most: int,
) -> int:
    return input_values.between(
        getattr(command, option), _place(option), least, most)


def _trace(
    command: argparse.Namespace, hosts: Sequence[fleets.FleetHost],
    shapes: Sequence[fleets.Shape],
) -> workload.Trace:
    if not _is_json(command.trace):
        return azure_trace.read(command.trace)
    if command.flavors is None:
        raise exception.Invalid(
            'A list of servers names flavors; give their sizes with '
            '--flavors.')
    turnover = server_list.Turnover(
        input_values.number(command.days, _place('days')),
        None if command.lifetime is None else input_values.number(
            command.lifetime, _place('lifetime')))
    return server_list.read(
        command.trace, _flavors(command.flavors, shapes),
        frozenset(host.name for host in hosts), turnover,
        random.Random(_whole(command, 'seed')))


def _flavors(
    path: str, shapes: Sequence[fleets.Shape],
) -> dict[str, server_list.Flavor]:
    """Read flavors, without disks where no host has a disk."""
    flavors = server_list.flavors(path)
    if any(shape.disk_gb for shape in shapes):
        return flavors
    return {name: flavor.without_disk() for name, flavor in flavors.items()}


def _is_json(path: str) -> bool:
    with text_files.reading(path) as file:
        if not pathlib.Path(path).is_file():
            raise exception.InputUnreadable(
                path=path, reason='a trace is read twice, and a pipe can be '
                                  'read once; write the trace to a file')
        return file.read(_HEAD).lstrip()[:1] in ('[', '{')


def _begin(
    command: argparse.Namespace, trace: workload.Trace,
    hosts: Sequence[fleets.FleetHost],
) -> datetime.datetime:
    given = None if command.begin is None else input_values.moment(
        command.begin, _place('begin'))
    found = given or trace.begin
    _check_end(found or replay.UNDATED, trace.seconds)
    if found is None and any(host.reboot for host in hosts):
        raise exception.Invalid(
            'The hosts have dates of reboots, and the trace has no '
            'dates; say when the trace begins with --begin.')
    return found or replay.UNDATED


def _check_end(begin: datetime.datetime, seconds: float) -> None:
    """Check that the end of a trace is a date.

    :raises: `exception.Invalid`
    """
    try:
        begin + datetime.timedelta(seconds=seconds)
    except OverflowError:
        raise exception.Invalid(
            f'A trace of {seconds / workload.DAY:g} days that begins '
            f'at {begin:%Y-%m-%d} ends after the year 9999; begin '
            'earlier or choose fewer days.')


def _shape(text: str) -> fleets.Shape:
    place = _place('host_size')
    parts = text.split(',')
    if len(parts) not in (2, 3):
        raise exception.InvalidValue(
            place, text, 'cpus, GB of memory and perhaps GB of disk, '
            f'such as {_SHAPE}')
    vcpus, memory_gb, *disk_gb = [
        input_values.whole(part.strip(), place) for part in parts]
    return fleets.Shape(vcpus, memory_gb * _MB, *disk_gb)
