# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/tenants``."""

import dataclasses

from pcloud.api import call as api_call
from pcloud.api.policies import others as policies
from pcloud.api import projects
from pcloud.api.schemas import shown
from pcloud.api.schemas import types
from pcloud import names
from pcloud.objects import homes
from pcloud.objects import tenants
from pcloud.rules.usage import caps

ADD_BODY = types.body(
    'tenant', {'name': types.keystone_name, 'domain': types.keystone_name},
    required=['name'])

CAPS_BODY = types.body('tenant', dict.fromkeys(
    ('max_servers', 'max_vcpus', 'max_memory_mb'), types.cap), required=[])

REMOVE_QUERY = types.force

TENANT = shown.members(
    {'id': shown.TEXT, 'name': shown.TEXT_OR_NULL}, dict.fromkeys(
        ('max_servers', 'max_vcpus', 'max_memory_mb'), shown.COUNT))


def index(call: api_call.Call) -> dict:
    """List the projects that may start servers in a Pcloud, with names.

    A tenant with caps has the members of `CAPS_BODY` that are set.

    Rule: reference-tenants-names, reference-usage-caps
    """
    pcloud = api_call.own_head(call)
    ids = sorted(pcloud.tenants)
    find = (projects.names if call.can(policies.TENANTS_FIND_ANYWHERE)
            else projects.names_in_own_domain)
    known = find(call.context, ids)
    return {'tenants': [{'id': each, 'name': known.get(each),
                         **_shown(caps.Caps.known(pcloud.caps.get(each)))}
                        for each in ids]}


def _shown(its_caps: caps.Caps | None) -> dict[str, int]:
    """Return the caps of a tenant; caps that cannot be read are not shown."""
    return {} if its_caps is None else {
        f'max_{name}': cap for name, cap
        in dataclasses.asdict(its_caps).items() if cap is not None}


def add(call: api_call.Call) -> None:
    """Make a project a tenant of a Pcloud, and cap what it may use there.

    Without a body the caps stay as they are.

    Rule: reference-usage-caps
    """
    pcloud = api_call.own_head(call)
    project_id = call.parameters['tenant']
    names.tenant_key(project_id)
    projects.check(call.context, project_id)
    tenants.add(call.context, pcloud, project_id, caps.Caps(**{
        name.removeprefix('max_'): cap for name, cap in call.body.items()
    }) if call.has_body else None)


def add_named(call: api_call.Call) -> dict:
    """Make the project of a name a tenant of a Pcloud.

    :raises: `exception.ProjectNotFound`, the same for a name that nobody has
        and for a name that the caller may not find

    Rule: reference-tenants-names
    """
    pcloud = api_call.own_head(call)
    project = _named(call)
    tenants.add(call.context, pcloud, project.id)
    return {'tenant': {'id': project.id, 'name': project.name}}


def _named(call: api_call.Call) -> projects.NamedProject:
    name, domain = call.body['name'], call.body.get('domain')
    if domain is None or projects.is_own_domain(call.context, domain):
        return projects.named(call.context, name)
    if not call.can(policies.TENANTS_FIND_ANYWHERE):
        raise projects.not_found_in(name, domain)
    return projects.named_in(call.context, name, domain)


def remove(call: api_call.Call) -> None:
    """Remove a tenant without shelved servers in a Pcloud, or by force.

    Rule: reference-pclouds-home
    """
    pcloud, project_id = api_call.own_head(call), call.parameters['tenant']
    if not call.asks_for('force'):
        homes.check_removal(call.context, pcloud, project_id)
    tenants.remove(call.context, pcloud, project_id)
