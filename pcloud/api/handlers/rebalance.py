# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/rebalance``."""

from collections.abc import Mapping

import jsonschema

from pcloud.api import call as api_call
from pcloud.api import ownership
from pcloud.api import projects
from pcloud.api.schemas import rebalance as schemas
from pcloud.api.views import rebalance as views
from pcloud.api import wishes
from pcloud.backend import flavors
from pcloud import exception
from pcloud.explain import bundle_requests
from pcloud.moving import rebalances
from pcloud.objects import pclouds
from pcloud.rules import draining
from pcloud.rules import rebalancing


def show(call: api_call.Call) -> dict:
    """Show which servers to move so that a goal is reached.

    :raises: `exception.FlavorNotFound`, `exception.Invalid`

    Rule: reference-rebalancing
    """
    pcloud = ownership.own_pcloud(call)
    return {'rebalance': views.show(rebalances.propose(
        call.context, pcloud, _question(call, pcloud, call.query)))}


def begin(call: api_call.Call) -> dict:
    """Have the servers of a plan moved.

    :raises: `exception.FlavorNotFound`, `exception.Invalid`,
        `exception.RebalanceOutdated`

    Rule: reference-rebalancing-begin
    """
    pcloud = ownership.own_pcloud(call)
    wishes.check(call, pcloud.owner, [wishes.REBALANCE])
    return {'rebalance': views.show(rebalances.begin(
        call.context, pcloud, _question(call, pcloud, _asked(call, pcloud)),
        call.body['valid_for']))}


def end(call: api_call.Call) -> None:
    """End the rebalance of a Pcloud, if there is one.

    Rule: reference-rebalancing-end
    """
    rebalances.end(call.context, ownership.own_pcloud(call))


def _asked(call: api_call.Call, pcloud: pclouds.Pcloud) -> Mapping:
    """Return the body, and where the body has no goal, that of the plan.

    :raises: `exception.RebalanceOutdated` for a text that is no plan
    """
    if 'goal' in call.body:
        return call.body
    asked = rebalances.asked(call.body['valid_for'])
    if not isinstance(asked, dict) or not jsonschema.Draft202012Validator(
            schemas.question).is_valid(asked):
        raise exception.RebalanceOutdated(pcloud=pcloud.id)
    return asked


def _question(
    call: api_call.Call, pcloud: pclouds.Pcloud, asked: Mapping,
) -> rebalances.Question:
    """Read a goal.

    :param asked: the query, the body, or what a plan was made for
    :raises: `exception.Invalid`, `exception.FlavorNotFound`,
        `exception.FlavorUnusable`
    """
    fits = asked['goal'] == rebalancing.FIT
    given = {'flavor', 'count'} & asked.keys()
    if fits and 'flavor' not in given:
        raise exception.Invalid(
            'Invalid input for field/attribute flavor. The goal '
            f'{rebalancing.FIT} needs a flavor.')
    if given and not fits:
        raise exception.Invalid(
            'Invalid input for field/attribute goal. A flavor and a '
            f'count are for the goal {rebalancing.FIT}.')
    # A query has texts; to JSON's schemas 2.0 is a whole number.
    return rebalances.Question(
        int(asked.get('max_moves', schemas.MOST_SERVERS)),
        asked.get('move', draining.LIVE),
        _bundle(call, pcloud, asked['flavor'], int(asked.get('count', 1)))
        if fits else None)


def _bundle(
    call: api_call.Call, pcloud: pclouds.Pcloud, flavor_id: str, count: int,
) -> bundle_requests.Bundle:
    flavor, = flavors.by_ids(call.context, [flavor_id])
    return bundle_requests.make(
        call.context, pcloud,
        [bundle_requests.Entry(flavor, count, False)],
        projects.known_domain(call.context, pcloud.owner))
