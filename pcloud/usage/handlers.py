# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/usage`` and ``/os-pcloud-usage``."""

from oslo_config import cfg

from pcloud.api import call as api_call
from pcloud.api.policies import others as policies
from pcloud.api import projects
from pcloud.api.schemas import shown as answers
from pcloud.api.schemas import types
from pcloud.api.views import times
from pcloud import exception
from pcloud.rules.usage import ledger
from pcloud.usage import held_hosts
from pcloud.usage import pcloud_use

CONF = cfg.CONF

# Of a share, which is no amount that anybody pays for.
_DIGITS = 4

_MONTH = {'type': 'string', 'pattern': r'^[0-9-]{1,7}\Z',
          'description': 'a year and a month, such as 2026-11'}

SHOW_QUERY = {
    'type': 'object',
    'properties': {'month': _MONTH},
    'additionalProperties': False,
}

INDEX_QUERY = {
    'type': 'object',
    'properties': {'month': _MONTH, 'limit': types.limit,
                   'marker': types.scope_id},
    'additionalProperties': False,
}

_HOURS = {'type': 'number', 'minimum': 0}
USAGE = answers.members({
    'project': answers.TEXT, 'month': answers.TEXT, 'complete': answers.FLAG,
    'host_flavors': answers.list_of(answers.members({
        'id': answers.TEXT, 'hosts': answers.COUNT, 'host_hours': _HOURS,
        'unit_hours': _HOURS}, {'cost': answers.TEXT})),
}, {'currency': answers.TEXT})
PCLOUD_ANSWER = answers.named('usage', answers.members({
    'tenants': answers.list_of(answers.members({
        'project': answers.TEXT, 'name': answers.TEXT_OR_NULL,
        'servers': answers.COUNT, 'vcpus': answers.COUNT,
        'memory_mb': answers.COUNT, 'share': {'type': 'number'}})),
    'hosts': answers.list_of(answers.members({
        'name': answers.TEXT, 'since': answers.MOMENT_OR_NULL,
        'empty_since': answers.MOMENT_OR_NULL}))}))


def show_pcloud(call: api_call.Call) -> dict:
    """Show what the tenants use of a Pcloud, and since when hosts are there.

    Rule: reference-usage-pcloud
    """
    pcloud = api_call.own_pcloud(call)
    use = pcloud_use.of_pcloud(call.context, pcloud)
    find = (projects.names if call.can(policies.TENANTS_FIND_ANYWHERE)
            else projects.names_in_own_domain)
    known = find(call.context, list(use.tenants))
    return {'usage': {
        'tenants': [{
            'project': project, 'name': known.get(project),
            'servers': its.servers, 'vcpus': its.vcpus,
            'memory_mb': its.memory_mb,
            'share': round(use.share(project), _DIGITS),
        } for project, its in use.tenants.items()],
        'hosts': [{
            'name': host.name, 'since': times.shown_seconds(host.since),
            'empty_since': times.shown_seconds(host.empty_since),
        } for host in use.hosts]}}


def show(call: api_call.Call) -> dict:
    """Show what a project has held of hosts in a month.

    :raises: `exception.PolicyForbids` when the caller may not see what the
        project uses, `exception.InvalidValue` for a month that is not kept,
        and as `projects.check` where nothing was held

    Rule: reference-usage-calls
    """
    project_id = call.parameters['project']
    if not call.can(call.rule, project_id):
        raise exception.PolicyForbids(rule=call.rule)
    usage = held_hosts.of_project(
        call.context, project_id, call.query.get('month'))
    if not usage.host_flavors:
        projects.check(call.context, project_id)
    return {'usage': _view(usage)}


def index(call: api_call.Call) -> dict:
    """List what projects have held of hosts in a month, by projects' ids.

    Rule: reference-usage-calls
    """
    most = CONF.api.max_limit
    limit = min(int(call.query.get('limit', most)), most)
    found = held_hosts.of_all(
        call.context, call.query.get('month'), call.query.get('marker', ''))
    return {'usages': [_view(usage) for usage in found[:limit]]}


def _view(usage: held_hosts.Usage) -> dict:
    """Return what a project has held; with a currency where there are costs.

    The hours tell each second; a cost is exact, as a decimal text.
    """
    shown: dict = {
        'project': usage.project, 'month': usage.month,
        'complete': usage.is_complete,
        'host_flavors': [_view_of_flavor(flavor, its) for flavor, its
                         in usage.host_flavors.items()]}
    if CONF.pcloud.currency:
        shown['currency'] = CONF.pcloud.currency
    return shown


def _view_of_flavor(flavor_id: str, its: ledger.Sum) -> dict:
    shown: dict = {'id': flavor_id, 'hosts': its.spans,
                   'host_hours': float(its.host_hours),
                   'unit_hours': float(its.unit_hours)}
    if its.price is not None:
        shown['cost'] = f'{its.price:f}'
    return shown
