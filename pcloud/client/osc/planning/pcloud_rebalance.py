# SPDX-License-Identifier: Apache-2.0

"""The command that shows which servers to move, and has them moved."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import typing

from osc_lib import exceptions as osc_exceptions

from pcloud.client import display
from pcloud.client.osc import common
from pcloud.client import rebalance_runs
from pcloud import text

if typing.TYPE_CHECKING:
    from pcloud.client import plan_resources

_COLUMNS = ['Step', 'Server', 'From', 'To']


class RebalancePcloud(common.Lister):
    """Show which servers to move so that hosts become empty, or others fit

    The moves of a step may run at once. Nothing is moved without --apply.
    Hosts that become empty stay in the Pcloud, enabled: remove them.
    """

    _epilog = ('Example:\n  openstack pcloud rebalance render-farm '
               '--fit m1.large=4 --max-moves 10 --apply --wait')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud, the goal and what may be done."""
        common.add_pcloud_argument(parser)
        goal = parser.add_mutually_exclusive_group()
        goal.add_argument(
            '--free-hosts', action='store_true',
            help='Make as many hosts empty as possible (default)')
        goal.add_argument(
            '--fit', metavar='<flavor>=<count>', type=common.flavor_count,
            help='Free capacity for servers of a flavor (name or id)')
        parser.add_argument(
            '--max-moves', metavar='<count>', type=int,
            help='Move so many servers at most')
        parser.add_argument(
            '--move', choices=('live', 'any'),
            help='Which servers may be moved: those that run (live, the '
                 'default), or stopped ones too (any)')
        act = parser.add_mutually_exclusive_group()
        act.add_argument(
            '--apply', action='store_true', help='Have the servers moved')
        act.add_argument(
            '--end', action='store_true',
            help='Have no more servers of an earlier plan moved; those on '
                 'their way arrive')
        parser.add_argument(
            '--wait', action='store_true',
            help='With --apply, wait until they have been moved')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """Show the moves, and have them made."""
        if parsed_args.wait and not parsed_args.apply:
            raise osc_exceptions.CommandError(
                '--wait says to wait for --apply; give both')
        if parsed_args.end:
            return self._end(parsed_args)
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        goal = self._goal(parsed_args)
        found = self.client.plan_rebalance(pcloud.id, **goal)
        # A plan without moves would only end an earlier rebalance.
        is_applied = parsed_args.apply and bool(found.moves)
        if is_applied:
            self.client.rebalance(pcloud.id, found.valid_for, **goal)
            if parsed_args.wait:
                rebalance_runs.wait(self.client, pcloud.id, goal, self.tell)
        for line in _sentences(found, is_applied):
            self.tell(line)
        return _COLUMNS, [
            [common.Readable(value, display.text) for value in (
                step, move['server'], move['from'], move['to'])]
            for step, places in enumerate(found.steps, 1)
            for move in (found.moves[place] for place in places)]

    def _end(self, parsed_args: argparse.Namespace) -> common.Listed:
        for option, value in (('--free-hosts', parsed_args.free_hosts),
                              ('--fit', parsed_args.fit),
                              ('--max-moves', parsed_args.max_moves),
                              ('--move', parsed_args.move)):
            if value:
                raise osc_exceptions.CommandError(
                    f'{option} is for a new plan, and --end makes none; give '
                    f'one of both')
        self.client.end_rebalance(
            self.client.find_pcloud(parsed_args.pcloud).id)
        self.tell('No more servers are moved; those on their way arrive.')
        return _COLUMNS, []

    def _goal(self, parsed_args: argparse.Namespace) -> dict[str, typing.Any]:
        goal: dict[str, typing.Any] = {
            name: value for name, value in (
                ('max_moves', parsed_args.max_moves),
                ('move', parsed_args.move)) if value is not None}
        if parsed_args.fit is None:
            return {'goal': 'free_hosts', **goal}
        name, count = parsed_args.fit
        return {'goal': 'fit', **goal, 'count': count,
                'flavor': self.client.servers.find_flavor(name).id}


def _sentences(
    found: plan_resources.Rebalance, is_applied: bool,
) -> Iterator[str]:
    """Yield what a plan is good for, and what it leaves, in sentences."""
    if found.frees:
        yield (f'{display.joined(list(found.frees))} '
               f'{"becomes" if len(found.frees) == 1 else "become"} empty: '
               f'{text.counted(found.units_saved, "unit", "units")} to give '
               'back.')
    if found.fits is not None:
        yield ('All the servers fit' if found.fits else
               'No such moves are known to free capacity for all the servers'
               ) + (' then.' if found.fits and found.moves else '.')
    elif not found.moves:
        yield ('No host can be made empty.' if found.exact else
               'No moves are known that make a host empty.')
    if not found.exact:
        yield 'There may be a better plan.'
    for pin in found.pinned:
        yield (f"{pin['server']} stays on {pin['host']}: {pin['rule']}: "
               f"{pin['reason']}")
    for each in found.not_explained:
        yield f'Not known: {each.text}'
    if found.under_way and not is_applied:
        yield (f'{text.counted(len(found.under_way), "server", "servers")} '
               'of an earlier rebalance still to be moved.')
    if found.stopped and not is_applied:
        yield (f"An earlier rebalance stopped at {found.stopped['at']}: "
               f"{found.stopped['reason']}")
