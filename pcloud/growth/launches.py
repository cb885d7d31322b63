# SPDX-License-Identifier: Apache-2.0

"""A launch into a Pcloud that grows: choice, then capacity, then again.

nova-api looks whether the launch fits, or may fit, and changes nothing. Nova
then judges the launch: policy, body, quotas, networks. Only when Nova has
accepted the launch, and nova-scheduler finds no host, hosts join, and Nova
chooses once more.

Rule: reference-default-pcloud-grow
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
import contextlib
import typing

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.scheduler import utils
from oslo_config import cfg
from oslo_log import log as logging
import oslo_messaging
from oslo_messaging.rpc import dispatcher

from pcloud.backend import request_specs
from pcloud.counters import allocations
from pcloud import exception
from pcloud.growth import crowds
from pcloud.growth import free_capacity
from pcloud.growth import growth_turns
from pcloud.growth import joining
from pcloud.growth import joint_calls
from pcloud.growth import rights
from pcloud.objects.changing_hands import allocation
from pcloud.objects import pclouds
from pcloud.rules.placing import default_pcloud
from pcloud.rules.placing import hints
from pcloud.scheduler import prefilter
from pcloud.scheduler import request

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# Nova's choice for a request; raises NoValidHost.
Choose = Callable[..., typing.Any]

# What keeps a Pcloud from growing, in words that are for the owner alone.
_OBSTACLES = (
    exception.GrowthForbidden, exception.GrowthLimit, exception.GrowthUseless,
    exception.NoFreeHost, exception.HostsSettling, exception.HostsContended,
    exception.HostFlavorNotFound, exception.OthersWaiting,
    exception.QuotaExceeded)


def check(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    default: default_pcloud.Default,
) -> None:
    """Refuse a launch that does not fit, and cannot.

    A launch that Nova's own request filters refuse is left to Nova. Launches
    of one kind that come to a process while the process looks at one of them
    are looked at together (`joint_calls`).

    :param default: the default that counts, in mode ``grow``
    :raises: `exception.Conflict` for such a launch, `exception.QuotaExceeded`,
        `exception.Unavailable`
    """
    joint_calls.once((default, crowds.kind(spec)),
                     lambda: _check(context, spec, default))


def _check(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    default: default_pcloud.Default,
) -> None:
    """Refuse a launch as `check` does, by a look at the Pcloud."""
    assert default.growth is not None
    try:
        room = free_capacity.read(
            context, _narrowed(context, spec), default.pcloud)
        if room.shortage:
            pcloud = pclouds.head(context, default.pcloud)
            with _obstacles(spec, pcloud, default.growth.host_flavor):
                joining.choose(context, pcloud, default.growth, room)
    except nova_exception.NoValidHost:
        return
    except (exception.PcloudNotFound, exception.PcloudUnusable) as error:
        raise _refusal(spec, default.pcloud, error)


@contextlib.contextmanager
def _obstacles(
    spec: objects.RequestSpec, pcloud: pclouds.Head, host_flavor: str,
) -> Iterator[None]:
    """Say what keeps a Pcloud from growing, and count the refusal.

    :raises: `exception.Conflict`, `exception.QuotaExceeded`
    """
    try:
        yield
    except _OBSTACLES as error:
        allocations.refused(host_flavor, error)
        if spec.project_id == pcloud.owner and isinstance(
                error, exception.QuotaExceeded):
            raise
        # How much the owner has is not for others.
        raise _refusal(
            spec, pcloud.id, error if spec.project_id == pcloud.owner
            else 'it cannot grow now')


def _refusal(
    spec: objects.RequestSpec, pcloud_id: str, reason: object,
) -> exception.Conflict:
    return exception.Conflict(
        f'Default Pcloud {pcloud_id} has no capacity for '
        f'{request.servers(spec)} more servers of this kind, and does not '
        f'grow: {reason}')


def is_growing(spec: objects.RequestSpec) -> bool:
    """Whether a Pcloud may grow for a request, by the request alone."""
    return (hints.GROW_RECORD in request.scheduler_hints(spec) and
            not request.is_move(spec) and not request.is_rebuild(spec))


@oslo_messaging.expected_exceptions(nova_exception.NoValidHost)
def chosen(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    servers: Collection[str], choose: Choose,
) -> typing.Any:
    """Return Nova's choice for a request; without capacity hosts join first.

    :param spec: a request for which `is_growing`
    :param servers: the uuids of the servers of the request
    :param choose: Nova's choice, as Nova's scheduler makes the choice
    """
    # Request filters narrow a request where it stands.
    asked = spec.obj_clone()
    try:
        return _choice(choose, spec)
    except nova_exception.NoValidHost:
        if not request_specs.are_queued(context, servers):
            raise
    try:
        return _chosen_with_room(context, asked, choose)
    except exception.PcloudError as error:
        LOG.info('No host for a server of project %(project)s: %(error)s',
                 {'project': spec.project_id, 'error': error})
        raise nova_exception.NoValidHost(reason=str(error))


def _choice(choose: Choose, spec: objects.RequestSpec) -> typing.Any:
    """Return Nova's choice.

    :raises: `nova.exception.NoValidHost`
    """
    try:
        return choose(spec)
    except dispatcher.ExpectedException as error:
        raise error.exc_info[1]


def _chosen_with_room(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    choose: Choose,
) -> typing.Any:
    """Return Nova's choice, once the request fits into the Pcloud.

    A launch without a turn may take the capacity meanwhile, or hold capacity
    for a moment: then the capacity is counted once more.

    :raises: `nova.exception.NoValidHost` where the request fits, and Nova
        twice finds no host for another reason
    """
    pcloud_id = hints.pcloud_id(request.scheduler_hints(spec)) or ''
    kind, tries, futile = crowds.kind(spec), 0, 0
    with crowds.PLACES:
        while tries < CONF.pcloud.allocation_attempts:
            crowd, is_first = crowds.join(kind, request.servers(spec))
            with (_decided(context, spec, pcloud_id, crowd) if is_first
                  else crowd.decision()) as decision:
                if decision is crowds.Decision.APART:
                    continue
                tries += 1
                if decision is crowds.Decision.LOST:
                    continue
                try:
                    return _choice(choose, spec.obj_clone())
                except nova_exception.NoValidHost:
                    futile += decision is crowds.Decision.HAD_ROOM
                    if futile > 1:
                        raise
    raise exception.GrowthBusy(pcloud=pcloud_id)


@contextlib.contextmanager
def _decided(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    pcloud_id: str, crowd: crowds.Crowd,
) -> Iterator[crowds.Decision]:
    """Make room for a crowd, in a turn that lasts until all are placed.

    The servers have allocations then, so that the next launch sees what is
    left.

    :param spec: the request of the first launch of the crowd
    """
    with crowd.led():
        pcloud = pclouds.head(context, pcloud_id)
        with growth_turns.held(context, pcloud) as turn:
            crowd.close()
            decision = _make_room(context, turn, spec, crowd)
            crowd.decide(decision)
            try:
                yield decision
            finally:
                crowd.wait_until_placed()


def _make_room(
    context: nova_context.RequestContext, turn: growth_turns.Held,
    spec: objects.RequestSpec, crowd: crowds.Crowd,
) -> crowds.Decision:
    """Add as many hosts as a crowd lacks, all in one change, or none.

    Where the Pcloud cannot grow for all, the Pcloud grows for the first
    launch, and the other launches look apart.

    :param spec: the request of the first launch of the crowd
    :returns: what holds for the first launch
    :raises: `exception.Conflict`, `exception.QuotaExceeded`,
        `exception.Unavailable`, `exception.PcloudUnusable`, and as
        `change.run`
    """
    room = free_capacity.read(
        context, _narrowed(context, spec), turn.pcloud.id)
    everybody = room.for_servers(crowd.servers)
    if not everybody.shortage:
        return crowds.Decision.HAD_ROOM
    with _obstacles(spec, turn.pcloud, ''):
        growth = rights.growth(spec.obj_clone(), turn.pcloud)
    if crowd.servers > request.servers(spec):
        try:
            return _grow(context, turn, growth, everybody)
        except _OBSTACLES as error:
            LOG.debug('Pcloud %(pcloud)s does not grow for %(count)d servers '
                      'together: %(error)s',
                      {'pcloud': turn.pcloud.id, 'count': crowd.servers,
                       'error': error})
            crowd.decide(crowds.Decision.APART)
    with _obstacles(spec, turn.pcloud, growth.host_flavor):
        return _grow(context, turn, growth, room)


def _grow(
    context: nova_context.RequestContext, turn: growth_turns.Held,
    growth: default_pcloud.Growth, room: free_capacity.Room,
) -> crowds.Decision:
    """Add as many hosts as servers lack, all in one change, or none.

    :raises: those of `_OBSTACLES`, and as `change.run`
    """
    if not room.shortage:
        return crowds.Decision.HAD_ROOM
    try:
        joining.add(context, turn, growth, joining.choose(
            context, turn.pcloud, growth, room))
    except (growth_turns.Lost, allocation.Lost) as reason:
        LOG.info('A launch into Pcloud %(pcloud)s looks for capacity again: '
                 '%(reason)r',
                 {'pcloud': turn.pcloud.id, 'reason': reason})
        return crowds.Decision.LOST
    return crowds.Decision.HAS_GROWN


def _narrowed(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
) -> objects.RequestSpec:
    """Return a request with its group's hosts of now, narrowed by Nova.

    :raises: `nova.exception.NoValidHost` when Nova refuses the request
    """
    narrowed = spec.obj_clone()
    if not ('requested_destination' in narrowed and
            narrowed.requested_destination):
        narrowed.requested_destination = objects.Destination()
    if 'instance_group' in narrowed and narrowed.instance_group:
        narrowed.instance_group = objects.InstanceGroup.get_by_uuid(
            context, narrowed.instance_group.uuid)
        utils.setup_instance_group(context, narrowed)
    try:
        prefilter.narrow_as_nova(context, narrowed)
    except nova_exception.RequestFilterFailed as error:
        raise nova_exception.NoValidHost(reason=error.message)
    return narrowed
