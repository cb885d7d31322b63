# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/simulate``."""

from pcloud.api import call as api_call
from pcloud.api import ownership
from pcloud.api import projects
from pcloud.api.schemas import simulate as schemas
from pcloud.api.views import simulate as views
from pcloud.backend import flavors
from pcloud import exception
from pcloud.explain import bundle_requests
from pcloud.explain import bundles


def ask(call: api_call.Call) -> dict:
    """Return whether servers fit together, and what would make them fit.

    :raises: `exception.FlavorNotFound`, `exception.HostNotFound`,
        `exception.Invalid` for too many servers

    Rule: reference-planning-simulate
    """
    pcloud = ownership.own_pcloud(call)
    asked = call.body['servers']
    # To JSON's schemas 2.0 is a whole number.
    counts = [int(each['count']) for each in asked]
    if sum(counts) > schemas.MOST_SERVERS:
        raise exception.Invalid(
            f'{sum(counts)} servers are too many; there may be '
            f'{schemas.MOST_SERVERS} at most.')
    wanted = flavors.by_ids(call.context, [each['flavor'] for each in asked])
    try:
        bundle = bundle_requests.make(call.context, pcloud, [
            bundle_requests.Entry(flavor, count, each.get('apart', False))
            for flavor, count, each in zip(wanted, counts, asked)],
            projects.known_domain(call.context, pcloud.owner))
    except exception.PcloudUnusable as error:
        return {'simulate': views.show(bundles.refused(
            str(error.details['reason'])))}
    return {'simulate': views.show(bundles.simulate(
        call.context, pcloud, bundles.Question(
            bundle, call.body.get('include_disabled', False),
            call.body.get('without', ()))))}
