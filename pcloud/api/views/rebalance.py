# SPDX-License-Identifier: Apache-2.0

"""How the API shows which servers to move."""

from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import itertools

from pcloud.api.views import times
from pcloud.moving import rebalances
from pcloud.rules import rebalance_rows


def show(proposal: rebalances.Proposal) -> dict:
    """Return a plan for the owner, with the owner's names of hosts."""
    return {
        'moves': [{'server': each.server, 'from': each.source.name,
                   'to': each.target.name}
                  for step in proposal.steps for each in step],
        'steps': list(_steps(proposal.steps)),
        'frees': [host.name for host in proposal.frees],
        'units_saved': sum(host.units for host in proposal.frees),
        'fits': proposal.fits,
        'exact': proposal.exact,
        'pinned': [dataclasses.asdict(each) for each in proposal.pinned],
        'not_explained': list(proposal.unknown),
        'valid_for': proposal.valid_for,
        'under_way': [{'server': each.server, 'from': each.source,
                       'to': each.target, 'step': each.step}
                      for each in proposal.under_way],
        'stopped': _stopped(proposal.stopped)}


def _steps(
    steps: Sequence[Sequence[rebalances.ServerMove]],
) -> Iterator[list[int]]:
    """Yield the places of each step's moves in the list of all moves."""
    number = itertools.count()
    for step in steps:
        yield [next(number) for _ in step]


def _stopped(stopped: rebalance_rows.Stopped | None) -> dict | None:
    if stopped is None:
        return None
    return {'at': times.shown_seconds(stopped.at), 'reason': stopped.reason}
