# SPDX-License-Identifier: Apache-2.0

"""The turn of a launch at letting a Pcloud grow.

Of all launches for which a Pcloud may grow, one at a time counts the capacity,
adds hosts, and has servers placed. A row in the metadata of the Pcloud
says whose turn it is. Whoever dies leaves a turn that lapses.

Rule: reference-default-pcloud-grow-turns
"""

from collections.abc import Iterator
import contextlib
import dataclasses
import random
import secrets
import time

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging

from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import outages
from pcloud import exception
from pcloud import names
from pcloud.objects import pclouds
from pcloud.objects import turns

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# Seconds between two looks at the turn of another launch.
_PAUSE = 0.03, 0.1


class Lost(Exception):
    """The turn has lapsed, and another launch has the turn."""


@dataclasses.dataclass(frozen=True)
class Held:
    """The turn of a launch in a Pcloud."""

    pcloud: pclouds.Head
    turn: turns.Turn


@contextlib.contextmanager
def held(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> Iterator[Held]:
    """Wait for the turn in a Pcloud, and end the turn afterwards.

    One query a look, and one change when no launch has the turn. The wait has
    no other end: each turn of others ends, or lapses.

    :raises: `exception.PcloudNotFound`, and as `change.run`
    """
    turn = turns.Turn(
        names.pcloud(pcloud.id), names.GROWTH_TURN,
        journal.growth_anchor(pcloud.id), secrets.token_hex(4),
        CONF.pcloud.growth_timeout)
    _wait(context, pcloud, turn)
    try:
        yield Held(pcloud, turn)
    finally:
        _end(context, pcloud, turn)


def _wait(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    turn: turns.Turn,
) -> None:
    try:
        while not (turns.is_free(context, turn) and
                   turns.take(context, turn)):
            time.sleep(random.uniform(*_PAUSE))
    except exception.AggregateGone:
        raise exception.PcloudNotFound(pcloud=pcloud.id)


def _end(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    turn: turns.Turn,
) -> None:
    """End a turn; a turn that cannot be ended lapses."""
    try:
        turns.end(context, turn)
    except outages.ANY as error:
        LOG.warning('The turn of a launch into Pcloud %(pcloud)s lasts until '
                    'it lapses: %(error)s', {'pcloud': pcloud.id,
                                             'error': error})


def anchors(its: Held) -> list[str]:
    """Return the anchors of a change of the Pcloud within a turn."""
    return [journal.pcloud_anchor(its.pcloud.id),
            journal.owner_anchor(its.pcloud.owner), its.turn.anchor]


def check(written: writes.Rows, its: Held) -> None:
    """Make sure, within a change, that a launch still has the turn.

    :raises: `Lost`
    """
    if not turns.is_own(written, its.turn):
        raise Lost()
