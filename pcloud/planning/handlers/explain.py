# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/explain``."""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterable
import dataclasses

from nova import objects

from pcloud.api import call as api_call
from pcloud.api import projects
from pcloud.api.schemas import shown
from pcloud.api.schemas import types
from pcloud.api.views import reasons
from pcloud.backend import flavors
from pcloud.planning import changes
from pcloud.planning import obstacles

SHOW_QUERY = {
    'type': 'object',
    'properties': {'flavor': types.flavor_id},
    'required': ['flavor'],
    'additionalProperties': False,
}

ANSWER = shown.named('explain', shown.members({
    'flavor': shown.TEXT,
    'fits': shown.COUNT,
    **reasons.members('refused'),
    'hosts': shown.list_of(shown.members({
        'name': shown.TEXT, 'fits': shown.COUNT,
        'in_the_way': shown.list_of(shown.members({
            'rule': shown.TEXT, **reasons.members('reason')}))})),
    'changes': shown.list_of(shown.members({
        'change': {'type': 'string', 'enum': [*changes.CHANGES]},
        'subject': shown.TEXT, 'text': shown.TEXT})),
    'not_explained': reasons.ALL}))


def show(call: api_call.Call) -> dict:
    """Return how many more servers of a flavor fit, and the obstacles.

    :raises: `exception.FlavorNotFound`

    Rule: reference-room-explain
    """
    pcloud = api_call.own_pcloud(call)
    flavor, = flavors.by_ids(call.context, [call.query['flavor']])
    explanation = obstacles.explain(
        call.context, pcloud, flavor,
        projects.known_domain(call.context, pcloud.owner))
    return {'explain': _view(
        flavor, explanation,
        changes.find(call.context, pcloud, flavor, explanation))}


def _view(
    flavor: objects.Flavor, explanation: obstacles.FlavorFit,
    helping: Iterable[changes.HelpfulChange],
) -> dict:
    """Return an explanation for the owner, with the owner's names of hosts."""
    return {'flavor': flavor.flavorid,
            'fits': explanation.fits,
            **reasons.show('refused', explanation.refused),
            'hosts': [_host(host) for host in explanation.hosts],
            'changes': [dataclasses.asdict(change) for change in helping],
            'not_explained': reasons.show_all(explanation.not_explained)}


def _host(host: obstacles.HostRoom) -> dict:
    return {'name': host.host.name, 'fits': host.fits,
            'in_the_way': [{'rule': obstacle.rule,
                            **reasons.show('reason', obstacle.reason)}
                           for obstacle in host.in_the_way]}
