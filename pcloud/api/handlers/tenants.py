# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/tenants``."""

from pcloud.api import call as api_call
from pcloud.api import projects
from pcloud.api.schemas import types
from pcloud import names
from pcloud.objects import homes
from pcloud.objects import tenants

REMOVE_QUERY = types.force


def index(call: api_call.Call) -> dict:
    """List the ids of the projects that may start servers in a Pcloud."""
    return {'tenants': sorted(api_call.own_head(call).tenants)}


def add(call: api_call.Call) -> None:
    """Make a project a tenant of a Pcloud."""
    pcloud = api_call.own_head(call)
    project_id = call.parameters['tenant']
    names.tenant_key(project_id)
    projects.check(call.context, project_id)
    tenants.add(call.context, pcloud, project_id)


def remove(call: api_call.Call) -> None:
    """Remove a tenant without shelved servers in a Pcloud, or by force.

    Rule: reference-pclouds-home
    """
    pcloud, project_id = api_call.own_head(call), call.parameters['tenant']
    if not call.asks_for('force'):
        homes.check_removal(call.context, pcloud, project_id)
    tenants.remove(call.context, pcloud, project_id)
