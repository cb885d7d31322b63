# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds``."""

from oslo_config import cfg

from pcloud.api import call as api_call
from pcloud.api.policies import pclouds as policies
from pcloud.api.views import pclouds as views
from pcloud.api import wishes
from pcloud.backend.aggregates import lists
from pcloud import exception
from pcloud.objects import homes
from pcloud.objects import pclouds

CONF = cfg.CONF


def _view(call: api_call.Call, pcloud: pclouds.Pcloud) -> dict:
    if api_call.is_own(call, pcloud):
        return views.detail(pcloud)
    return views.summary(pcloud)


def index(call: api_call.Call) -> dict:
    """List the Pclouds that the project owns or is a tenant of.

    With ``detail`` the project's own Pclouds are shown with what is free.

    :raises: `exception.PolicyForbids` when the caller may not use
        ``all_tenants``, `exception.Invalid` for an unknown marker
    """
    everybody = call.asks_for('all_tenants')
    if everybody and not call.manages_all:
        raise exception.PolicyForbids(rule=policies.ALL_PROJECTS)
    project_id = None if everybody else call.project_id
    there = lists.index(
        call.context, project_id, call.query.get('name'))
    # Only the Pclouds of the page are read whole.
    page = pclouds.listed(call.context, [
        there[pcloud_id] for pcloud_id in _page(call, list(there))],
        project_id)
    shown = [_view(call, pcloud) for pcloud in page]
    if call.asks_for('detail'):
        _add_usages(call, page, shown)
    return {'pclouds': shown}


def _add_usages(
    call: api_call.Call, page: list[pclouds.Pcloud], shown: list[dict],
) -> None:
    """Add what is free to the Pclouds that the caller may see whole."""
    own = [(pcloud, view) for pcloud, view in zip(page, shown, strict=True)
           if api_call.is_own(call, pcloud)]
    known = pclouds.usages(call.context, [pcloud for pcloud, _ in own])
    for pcloud, view in own:
        view.update(views.usage(known.get(pcloud.id)))


def _page(call: api_call.Call, ids: list[str]) -> list[str]:
    """Return the ids after the marker, up to the limit."""
    most = CONF.api.max_limit
    limit = min(int(call.query.get('limit', most)), most)
    start = 0
    if 'marker' in call.query:
        if call.query['marker'] not in ids:
            raise exception.Invalid(
                f"Marker '{call.query['marker']}' could not be found; "
                'it takes the id of the last Pcloud of a page.')
        start = ids.index(call.query['marker']) + 1
    return ids[start:start + limit]


def show(call: api_call.Call) -> dict:
    """Show a Pcloud."""
    return {'pcloud': _view(call, api_call.visible_pcloud(call))}


def create(call: api_call.Call) -> api_call.Answer | dict:
    """Create a Pcloud of the caller's project.

    With ``if_absent`` the project's only Pcloud of the name is the answer,
    where there is one.

    Rule: reference-pclouds-if-absent
    """
    name = call.body['name']
    if not call.asks_for('if_absent'):
        return {'pcloud': views.detail(pclouds.create(
            call.context, name, call.project_id))}
    pcloud, is_new = pclouds.create_if_absent(
        call.context, name, call.project_id)
    body = {'pcloud': views.detail(pcloud)}
    return body if is_new else api_call.Answer(200, body)


def update(call: api_call.Call) -> dict:
    """Change the name, the ratios or the rules of a Pcloud.

    :raises: `exception.PolicyForbids` for a maintenance policy, a recovery of
        hosts, or a wish that empty hosts leave, that does what the caller may
        not do
    """
    pcloud = api_call.own_pcloud(call)
    wishes.check(call, pcloud.owner, [
        *wishes.of_policy(call.body.get('maintenance_policy')),
        *wishes.of_recovery(call.body.get('host_recovery')),
        *wishes.of_shrink(call.body.get('shrink'))])
    return {'pcloud': views.detail(
        pclouds.update(call.context, pcloud, call.body))}


def delete(call: api_call.Call) -> None:
    """Delete a Pcloud without hosts, and without shelved servers or by force.

    Rule: reference-pclouds-home
    """
    pcloud = api_call.own_pcloud(call)
    if not call.asks_for('force'):
        homes.check_deletion(call.context, pcloud)
    pclouds.delete(call.context, pcloud)
