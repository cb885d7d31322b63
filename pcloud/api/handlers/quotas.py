# SPDX-License-Identifier: Apache-2.0

"""``/os-pcloud-quotas``."""

from pcloud.api import call as api_call
from pcloud.api import projects
from pcloud.api.schemas import shown
from pcloud.api.schemas import types
from pcloud.backend import limits
from pcloud import exception
from pcloud.objects import quotas
from pcloud.rules import units

UPDATE_BODY = types.body(
    'quota',
    {'units': {
        'type': 'object',
        'properties': {
            'limit': {'type': 'integer', 'minimum': units.UNLIMITED,
                      'maximum': units.MOST_OF_LIMIT},
        },
        'required': ['limit'],
        'additionalProperties': False,
    }},
    required=['units'])

ANSWER = shown.named('quota', shown.named('units', shown.members({
    'limit': {'type': 'integer', 'minimum': units.UNLIMITED},
    'in_use': shown.COUNT})))


def _view(quota: quotas.Quota) -> dict:
    return {'quota': {'units': {'limit': quota.limit,
                                'in_use': quota.in_use}}}


def show(call: api_call.Call) -> dict:
    """Show the limit of a project's units, and the units in use.

    What a project had is shown that Keystone does not know any more.

    :raises: `exception.PolicyForbids` when the caller may not see the
        project's quota, and as `projects.check`
    """
    project_id = call.parameters['project']
    if not call.can(call.rule, project_id):
        raise exception.PolicyForbids(rule=call.rule)
    quota = quotas.show(call.context, project_id)
    if not quota.in_use and quota.limit == limits.default():
        projects.check(call.context, project_id)
    return _view(quota)


def update(call: api_call.Call) -> dict:
    """Set the limit of a project's units."""
    project_id = call.parameters['project']
    projects.check(call.context, project_id)
    return _view(quotas.set_limit(
        call.context, project_id, call.body['units']['limit']))


def delete(call: api_call.Call) -> None:
    """Reset the limit of a project's units to the default."""
    project_id = call.parameters['project']
    quotas.reset_limit(call.context, project_id)
