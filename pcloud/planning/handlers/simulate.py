# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/simulate``."""

import dataclasses

from pcloud.api import call as api_call
from pcloud.api import projects
from pcloud.api.schemas import shown
from pcloud.api.schemas import types
from pcloud.api.views import reasons
from pcloud.backend import flavors
from pcloud import exception
from pcloud.planning import bundles
from pcloud.planning import simulate
from pcloud.rules import coded

MOST_FLAVORS, MOST_SERVERS = 20, 1000

_SERVERS = {
    'type': 'object',
    'properties': {
        'flavor': types.flavor_id,
        'count': {'type': 'integer', 'minimum': 1, 'maximum': MOST_SERVERS},
        'apart': {'type': 'boolean'},
    },
    'required': ['flavor', 'count'],
    'additionalProperties': False,
}

ASK_BODY = types.body(
    'simulate',
    {'servers': {'type': 'array', 'items': _SERVERS, 'minItems': 1,
                 'maxItems': MOST_FLAVORS},
     'include_disabled': {'type': 'boolean'},
     'without': {'type': 'array', 'items': types.host_name,
                 'maxItems': MOST_SERVERS}},
    required=['servers'])

# Host flavors of which hosts are missing.
MORE = shown.list_of(shown.members({
    'host_flavor': shown.TEXT, 'hosts': shown.COUNT, 'units': shown.COUNT,
    'free': shown.COUNT, 'quota_short_by': shown.COUNT}))
ANSWER = shown.named('simulate', shown.members({
    'fits': shown.FLAG,
    **reasons.members('refused'),
    'exact': shown.FLAG,
    'placed': shown.list_of(shown.members({
        'host': shown.TEXT, 'flavor': shown.TEXT, 'count': shown.COUNT})),
    'binding': shown.list_of(shown.members({
        'resource': shown.TEXT, 'short_by': shown.COUNT})),
    'enable': shown.list_of(shown.TEXT),
    'more': MORE,
    'bounds': shown.members({'least': shown.COUNT, 'most': shown.COUNT}),
    'not_explained': reasons.ALL}))


def ask(call: api_call.Call) -> dict:
    """Return whether servers fit together, and what would make them fit.

    :raises: `exception.FlavorNotFound`, `exception.HostNotFound`,
        `exception.Invalid` for too many servers

    Rule: reference-planning-simulate
    """
    pcloud = api_call.own_pcloud(call)
    asked = call.body['servers']
    counts = [each['count'] for each in asked]
    if sum(counts) > MOST_SERVERS:
        raise exception.Invalid(
            f'{sum(counts)} servers are too many; there may be '
            f'{MOST_SERVERS} at most.')
    wanted = flavors.by_ids(call.context, [each['flavor'] for each in asked])
    try:
        bundle = bundles.make(call.context, pcloud, [
            bundles.Entry(flavor, count, each.get('apart', False))
            for flavor, count, each in zip(wanted, counts, asked)],
            projects.known_domain(call.context, pcloud.owner))
    except exception.PcloudUnusable as error:
        return {'simulate': _view(simulate.refused(
            coded.of(error.details['reason'])))}
    return {'simulate': _view(simulate.simulate(
        call.context, pcloud, simulate.BundleQuestion(
            bundle, call.body.get('include_disabled', False),
            call.body.get('without', ()))))}


def _view(simulation: simulate.Simulation) -> dict:
    """Return a simulation for the owner, with the owner's names of hosts."""
    return {
        'fits': simulation.fits,
        **reasons.show('refused', simulation.refused),
        'exact': simulation.exact,
        'placed': [dataclasses.asdict(each) for each in simulation.placed],
        'binding': [dataclasses.asdict(each) for each in simulation.binding],
        'enable': list(simulation.enable),
        'more': [dataclasses.asdict(each) for each in simulation.more],
        'bounds': {'least': simulation.least, 'most': simulation.most},
        'not_explained': reasons.show_all(simulation.not_explained)}
