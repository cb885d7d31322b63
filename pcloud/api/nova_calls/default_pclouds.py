# SPDX-License-Identifier: Apache-2.0

"""Where servers go that name no Pcloud: the default Pcloud of the project.

The default is written into the hints of a new server. The server's request
spec keeps the hints, so later moves follow the default at the server's start,
and a later change of the default moves no server.

Rule: reference-default-pcloud
"""

from collections.abc import Iterable
from collections.abc import Mapping

from nova.api.openstack import api_version_request
from nova.compute import api
from nova import context as nova_context
from nova import exception as nova_exception

from pcloud.backend.aggregates import isolation
from pcloud import exception
from pcloud.objects.placing import scoped_policies
from pcloud.rules.placing import default_pcloud
from pcloud.rules.placing import hints as hint_rules

# From this version on a server may name a host.
_HOST = api_version_request.APIVersionRequest('2.74')
_HOST_MEMBERS = 'host', 'hypervisor_hostname'


def is_placed(
    server: Mapping, hints: Mapping,
    version: api_version_request.APIVersionRequest,
) -> bool:
    """Whether a request says itself where the server goes.

    A hint about Pclouds does, and so does a host that an administrator names;
    Nova refuses the host of anybody else.

    :param server: the server in the body of the call
    :param version: the microversion of the call
    """
    return (hint_rules.PCLOUD in hints or hint_rules.PREFER in hints or
            _names_host(server.get('availability_zone')) or
            version >= _HOST and any(map(server.get, _HOST_MEMBERS)))


def scopes(
    context: nova_context.RequestContext,
) -> list[tuple[str, str]]:
    """Return scope and id of the levels of a default, most specific first."""
    return [(scoped_policies.PROJECT, context.project_id),
            (scoped_policies.DOMAIN,
             hint_rules.domain_id(context.project_domain_id)),
            (scoped_policies.CLOUD, scoped_policies.DEFAULT)]


def _names_host(zone: object) -> bool:
    """Whether Nova would read a host or a node from a zone."""
    try:
        return isinstance(zone, str) and any(
            api.API.parse_availability_zone(None, zone)[1:])
    except (nova_exception.InvalidInput, ValueError):
        # Nova refuses the request.
        return False


def usable(
    context: nova_context.RequestContext, hints: Mapping,
    policies: Iterable[scoped_policies.Policy],
) -> default_pcloud.Default | None:
    """Return the default for a server that names no Pcloud, None for none.

    Two queries where the default is a Pcloud in mode ``strict`` or ``grow``,
    else none. A server that names a host of the Pcloud goes there, whatever
    the mode is.

    :param hints: the hints of the server

    :param policies: the policies for the server, the most specific first;
        only policies of projects, domains and the cloud have a default
    :raises: `exception.Conflict` when the default cannot be read, or in mode
        ``strict`` or ``grow`` cannot be used
    """
    counting = scoped_policies.default_pcloud(policies)
    if counting is None:
        return None
    source, stored = counting
    try:
        default = default_pcloud.read(stored)
    except exception.InvalidValue as error:
        raise exception.Conflict(
            f'The default Pcloud of {source} counts here and cannot be read, '
            'so the server is not started: ask your operator, set another '
            f'default, or start the server with the hint pcloud=none. {error}')
    if default is not None and hint_rules.HOST in hints:
        default = default.strict
    if default is not None and default.mode != default_pcloud.PREFER:
        _check(context, source, default)
    return default


def source(context: nova_context.RequestContext) -> str | None:
    """Return the scope whose default counts for the caller's project.

    One query.

    :returns: None where no default is set, or the default is no Pcloud
    """
    counting = scoped_policies.default_pcloud(
        scoped_policies.by_scopes(scopes(context)).values())
    if counting is None or counting[1] == default_pcloud.written(None):
        return None
    return counting[0]


def _check(
    context: nova_context.RequestContext, source: str,
    default: default_pcloud.Default,
) -> None:
    """Refuse a default that the caller's project may not use."""
    try:
        isolation.usable_pcloud(context, default.pcloud, context.project_id)
    except exception.PcloudUnusable as error:
        raise exception.Conflict(
            f'Pcloud {default.pcloud}, which is the default of {source}, '
            f"cannot be used: {error.details['reason']}. Set another "
            'default, or start the server with the hint pcloud=none.')
