# SPDX-License-Identifier: Apache-2.0


"""What holds around the whole of Nova's choice of destinations.

Filters and weighers are asked within the choice, and cannot see when the
choice begins and ends. Nova has no hook around the choice, so
`select_destinations` of Nova's scheduler, a call between services whose form
is fixed by the version of the call, is wrapped.

A request for which a Pcloud may grow is handed to `growth.launches`.

A build or move that fails on its host goes on to an alternate, minutes after
the choice, and nobody asks a filter again. So a request whose hosts depend on
what may have changed by then has no alternates: on the rights of its project
and the states of hosts in a Pcloud, or on the places of other servers.

Rule: reference-isolation-alternates
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import typing

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.scheduler import manager
import oslo_messaging as messaging

from pcloud import exception
from pcloud.growth import launches
from pcloud.scheduler import request
from pcloud.scheduler import strict_turns

_Choose = Callable[..., typing.Any]
_ALTERNATES = 'return_alternates'
_SPEC = 'spec_obj'
# The arguments of Nova's method, in order.
_ARGUMENTS = ('request_spec', 'filter_properties', _SPEC, 'instance_uuids',
              'return_objects', _ALTERNATES)
# The version of the scheduler's calls in which the method has this form.
_VERSION = '4'
_WRAPPED = '_pcloud_wrapped'


def register() -> None:
    """Wrap the choice of Nova's scheduler; harmless when repeated.

    :raises: `exception.SchedulerUnknown` for a Nova whose scheduler chooses in
        another form: the scheduler must not start without the wrapper
    """
    if is_registered():
        return
    scheduler = manager.SchedulerManager
    version = scheduler.target.version
    if (version.partition('.')[0] != _VERSION or
            not hasattr(scheduler, 'select_destinations')):
        raise exception.SchedulerUnknown(version=version)
    scheduler.select_destinations = _wrapped(scheduler.select_destinations)


def is_registered() -> bool:
    """Whether the choice of Nova's scheduler is wrapped."""
    return hasattr(getattr(manager.SchedulerManager, 'select_destinations',
                           None), _WRAPPED)


def _wrapped(choose: _Choose) -> _Choose:
    @messaging.expected_exceptions(nova_exception.NoValidHost)
    def select_destinations(
        scheduler: manager.SchedulerManager,
        context: nova_context.RequestContext, *values: typing.Any,
        **arguments: typing.Any,
    ) -> typing.Any:
        arguments.update(zip(_ARGUMENTS, values))
        spec = _spec(context, arguments)
        if request.is_final(spec):
            arguments[_ALTERNATES] = False
        choice = functools.partial(
            _choice, choose, scheduler, context, spec, arguments)
        if strict_turns.is_needed(spec):
            return strict_turns.choose(
                scheduler, context, spec, arguments['instance_uuids'], choice)
        return choice()

    setattr(select_destinations, _WRAPPED, True)
    return select_destinations


def _choice(
    choose: _Choose, scheduler: manager.SchedulerManager,
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    arguments: dict[str, typing.Any],
) -> typing.Any:
    """Return Nova's choice, for which a Pcloud may grow."""
    def of(asked: objects.RequestSpec) -> typing.Any:
        return choose(scheduler, context, **{**arguments, _SPEC: asked})

    if launches.is_growing(spec):
        return launches.chosen(
            context, spec, arguments.get('instance_uuids') or (), of)
    return of(spec)


def _spec(
    context: nova_context.RequestContext, arguments: dict[str, typing.Any],
) -> objects.RequestSpec:
    """Return the request, which old conductors send in two dictionaries."""
    if _SPEC not in arguments:
        # As Nova's scheduler does.
        arguments[_SPEC] = objects.RequestSpec.from_primitives(
            context, arguments.pop('request_spec', None),
            arguments.pop('filter_properties', None))
    return arguments[_SPEC]
