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

"""What holds around the whole of Nova's choice of destinations.

Filters and weighers are asked within the choice, and cannot see when the
choice begins and ends. Nova has no hook around the choice, so
`select_destinations` of Nova's scheduler, a call between services whose form
is fixed by its version, is wrapped.

A request for which a Pcloud may grow is handed to `growth.launches`.

A build or move that fails on its host goes on to an alternate, minutes after
the choice, and nobody asks a filter again. So a request with a Pcloud has no
alternates: what its project may do by then, and which hosts are enabled, is
not known.

Rule: reference-isolation-alternates
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import typing

from nova import context as nova_context
from nova import objects
from nova.scheduler import manager

from pcloud.rules import hints
from pcloud.scheduler.growth import launches
from pcloud.scheduler import request

_Choose = Callable[..., typing.Any]
_ALTERNATES = 'return_alternates'
_PCLOUDS = frozenset([hints.PCLOUD, hints.PREFER])
_WRAPPED = '_pcloud_wrapped'


def register() -> None:
    """Wrap the choice of Nova's scheduler; harmless when repeated."""
    if not is_registered():
        manager.SchedulerManager.select_destinations = _wrapped(
            manager.SchedulerManager.select_destinations)


def is_registered() -> bool:
    """Whether the choice of Nova's scheduler is wrapped."""
    return hasattr(manager.SchedulerManager.select_destinations, _WRAPPED)


def _wrapped(choose: _Choose) -> _Choose:
    @functools.wraps(choose)
    def select_destinations(
        scheduler: manager.SchedulerManager,
        context: nova_context.RequestContext, **arguments: typing.Any,
    ) -> typing.Any:
        spec = arguments.get('spec_obj')
        if isinstance(spec, objects.RequestSpec) and _has_pcloud(spec):
            arguments[_ALTERNATES] = False
            if launches.is_growing(spec):
                return launches.chosen(
                    context, spec, arguments.get('instance_uuids') or (),
                    lambda asked: choose(scheduler, context, **{
                        **arguments, 'spec_obj': asked}))
        return choose(scheduler, context, **arguments)

    setattr(select_destinations, _WRAPPED, True)
    return select_destinations


def _has_pcloud(spec: objects.RequestSpec) -> bool:
    """Whether a request names or prefers a Pcloud."""
    return not _PCLOUDS.isdisjoint(request.scheduler_hints(spec))
