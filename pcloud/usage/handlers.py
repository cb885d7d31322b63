# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/usage`` and ``/os-pcloud-usage``."""

from collections.abc import Iterator
from collections.abc import Mapping
import itertools

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
    'properties': {'month': _MONTH, 'by': {
        'type': 'string', 'enum': ['day'],
        'description': 'what the month is parted in too'}},
    'additionalProperties': False,
}

INDEX_QUERY = {
    'type': 'object',
    'properties': {'month': _MONTH, 'limit': types.limit,
                   'marker': types.scope_id},
    'additionalProperties': False,
}

_HOURS = {'type': 'number', 'minimum': 0}
_HELD = answers.list_of(answers.members({
    'id': answers.TEXT, 'hosts': answers.COUNT, 'host_hours': _HOURS,
    'unit_hours': _HOURS}, {'cost': answers.TEXT}))
_OF_MONTH = {'project': answers.TEXT, 'month': answers.TEXT,
             'complete': answers.FLAG, 'host_flavors': _HELD}
_CURRENCY = {'currency': answers.TEXT}
SHOW_ANSWER = answers.named('usage', answers.members(_OF_MONTH, _CURRENCY | {
    'days': answers.list_of(answers.members({
        'day': answers.TEXT, 'host_flavors': _HELD}))}))
INDEX_ANSWER = answers.named('usages', answers.list_of(answers.members(
    _OF_MONTH, _CURRENCY)))
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
    """Show what a project has held of hosts in a month, and in its days.

    :raises: `exception.PolicyForbids` when the caller may not see what the
        project uses, `exception.InvalidValue` for a month of which that is not
        kept, and as `projects.check` where nothing was held

    Rule: reference-usage-calls
    """
    project_id = call.parameters['project']
    if not call.can(call.rule, project_id):
        raise exception.PolicyForbids(rule=call.rule)
    find = (held_hosts.of_project_by_day if 'by' in call.query
            else held_hosts.of_project)
    usage = find(call.context, project_id, call.query.get('month'))
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
    return {'usages': [_view(usage)
                       for usage in itertools.islice(found, limit)]}


def _view(usage: held_hosts.Usage) -> dict:
    """Return what a project has held; with a currency where there are costs.

    The hours tell each second; a cost is exact, as a decimal text.
    """
    shown: dict = {
        'project': usage.project, 'month': usage.month,
        'complete': usage.is_complete,
        'host_flavors': [_view_of_flavor(flavor, its) for flavor, its
                         in usage.host_flavors.items()]}
    if usage.days is not None:
        shown['days'] = list(_view_of_days(usage.days))
    if CONF.pcloud.currency:
        shown['currency'] = CONF.pcloud.currency
    return shown


def _view_of_days(
    days: Mapping[str, Mapping[str, ledger.Sum]],
) -> Iterator[dict]:
    """Yield what a project has held in each day.

    A day is the difference of what the month comes to with it and without it,
    so that rounded numbers come to that of the month too.
    """
    before: dict[str, ledger.Sum] = {}
    for day, host_flavors in days.items():
        yield {'day': day, 'host_flavors': [
            _view_of_flavor(flavor, its, before.get(flavor, ledger.Sum()))
            for flavor, its in host_flavors.items()]}
        before |= {flavor: before.get(flavor, ledger.Sum()).plus(its)
                   for flavor, its in host_flavors.items()}


def _view_of_flavor(
    flavor_id: str, its: ledger.Sum, before: ledger.Sum = ledger.Sum(),
) -> dict:
    """Return what was held of a host flavor.

    :param before: what the days before have come to
    """
    after = before.plus(its)
    shown: dict = {'id': flavor_id, 'hosts': its.spans,
                   'host_hours': float(after.host_hours - before.host_hours),
                   'unit_hours': float(after.unit_hours - before.unit_hours)}
    if its.cost is not None:
        shown['cost'] = f'{(after.price or 0) - (before.price or 0):f}'
    return shown
