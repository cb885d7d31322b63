# SPDX-License-Identifier: Apache-2.0


"""Choices for strict wishes of a project take turns.

A strict wish about other servers is judged by where these servers are. Of two
choices at once neither would know the other, whatever scheduler makes them. So
the choices for such wishes of a project follow each other: a row in the
journal says whose turn it is. When a turn ends, Placement knows the hosts of
its servers, and `expected_places` tells them to the next choice.

A choice that ends after its turn was lost may have missed another one, and
does not take effect. So no clock has to be right.

Rule: reference-locality-strict-turns
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import random
import secrets
import time
import typing

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.scheduler import manager
from oslo_config import cfg
from oslo_log import log as logging
from oslo_serialization import jsonutils

from pcloud.backend.changes import journal
from pcloud.backend import outages
from pcloud import exception
from pcloud import names
from pcloud.objects import turns
from pcloud.rules.placing import locality
from pcloud.scheduler import request

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# Seconds between two looks at a turn of somebody else.
_PAUSE = 0.05, 0.25
# How many times as long as a turn may last a request waits for others.
_PATIENCE = 3


def is_needed(spec: objects.RequestSpec) -> bool:
    """Whether the choice for a request has to be made in a turn.

    A group whose servers are to be kept apart is a strict wish, where no
    alternate makes up for two servers that have met. A rebuild stays on its
    host, and no filter judges a rebuild.
    """
    if request.is_rebuild(spec):
        return False
    if request.is_apart(spec):
        return True
    try:
        wish = locality.wish(request.scheduler_hints(spec))
    except exception.InvalidValue:
        # The filter ends the request.
        return False
    return wish is not None and wish.strict


def choose(
    scheduler: manager.SchedulerManager,
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    servers: Sequence[str], choice: Callable[[], typing.Any],
) -> typing.Any:
    """Choose in the turn of the request's project.

    A look while others choose is one query; each choice makes two changes.

    :param servers: the uuids of the servers to choose hosts for
    :param choice: makes the choice, and claims the hosts in Placement
    :returns: what `choice` returns: for each server a list of selections
    :raises: whatever `choice` raises; `nova.exception.NoValidHost` when the
        turn does not come, or was lost, or the database is away
    """
    admin = nova_context.get_admin_context()
    try:
        turn = _take(admin, spec.project_id)
    except outages.ANY as error:
        raise nova_exception.NoValidHost(reason=str(error))
    try:
        selections = choice()
    except BaseException:
        _end(admin, turn)
        raise
    if not _end(admin, turn):
        for server, (selection, *_) in zip(servers, selections, strict=True):
            _give_back(scheduler, context, server, selection)
        raise nova_exception.NoValidHost(
            reason=str(exception.Conflict(
                'The choice of a host has taken so long that it does not '
                'count any more: other servers of the project with strict '
                'wishes (near, far) may have been placed meanwhile; repeat '
                'the request.')))
    return selections


def _take(
    context: nova_context.RequestContext, project_id: str,
) -> turns.Turn:
    """Wait for the turn of a project, and take the turn.

    :raises: `exception.Conflict` when the turns of others last too
        long, and as `change.run`
    """
    lasts = CONF.pcloud.strict_timeout
    turn = turns.Turn(
        names.JOURNAL, names.strict_key(project_id),
        journal.strict_anchor(project_id), secrets.token_hex(4), lasts)
    deadline = time.monotonic() + _PATIENCE * lasts
    while not (turns.is_free(context, turn) and turns.take(context, turn)):
        if time.monotonic() > deadline:
            raise exception.Conflict(
                'Other servers of the project with strict wishes (near, far) '
                f'are being placed, and were not after {_PATIENCE * lasts} '
                's; repeat the request.')
        time.sleep(random.uniform(*_PAUSE))
    return turn


def _end(context: nova_context.RequestContext, turn: turns.Turn) -> bool:
    """End a turn, and return whether the turn was surely not lost."""
    try:
        return turns.end(context, turn)
    except outages.ANY as error:
        LOG.warning('The turn %(key)s of a choice could not be ended, and '
                    'lapses: %(error)s', {'key': turn.key, 'error': error})
        return False


def _give_back(
    scheduler: manager.SchedulerManager,
    context: nova_context.RequestContext, server: str,
    selection: objects.Selection,
) -> None:
    """Take back what a choice has claimed for a server.

    A server that is being evacuated has its old host's resources too.
    """
    client = scheduler.placement_client
    claimed = jsonutils.loads(selection.allocation_request)['allocations']
    try:
        there = client.get_allocs_for_consumer(context, server)['allocations']
        if there.keys() <= claimed.keys():
            client.delete_allocation_for_instance(context, server, force=True)
        else:
            client.remove_provider_tree_from_instance_allocation(
                context, server, selection.compute_node_uuid)
    except outages.ANY as error:
        LOG.error('What was claimed for server %(server)s is still claimed: '
                  '%(error)s', {'server': server, 'error': error})
