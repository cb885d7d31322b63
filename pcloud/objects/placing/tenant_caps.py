# SPDX-License-Identifier: Apache-2.0

"""Refuse servers by which a tenant would use more of a Pcloud than it may.

Rule: reference-usage-caps
"""

from nova import context as nova_context

from pcloud.backend.cells import tenant_servers
from pcloud import exception
from pcloud.rules import coded
from pcloud.rules.placing import access
from pcloud.rules.usage import caps


def check_launch(
    context: nova_context.RequestContext, pcloud: access.Pcloud,
    project: str, asked: caps.Amounts, first: str | None = None,
) -> None:
    """Refuse new servers beyond the caps of a tenant.

    Nothing is read for a tenant without caps, else as `tenant_servers.read`.

    :param project: the project of the servers
    :param asked: what all servers of the request use together
    :param first: the uuid of a server of the request that Nova has accepted
        already; None for a request that it has not
    :raises: `exception.CapExceeded`, `exception.UseUnknown` when a cell with a
        host of the Pcloud is silent
    """
    if project in pcloud.caps:
        _check(context, pcloud, project, caps.Amounts(), asked, first)


def check_change(
    context: nova_context.RequestContext, pcloud: access.Pcloud,
    project: str, server: str, wanted: caps.Amounts,
) -> None:
    """Refuse what a server of a tenant would use more than now.

    A server on a host that becomes no larger is moved in any case. Nothing is
    read for a tenant without caps; else as `tenant_servers.present`, and for a
    server that gets larger, or that has no host, as `tenant_servers.read`.

    :param server: the uuid
    :param wanted: what the server is to use
    :raises: as `check_launch`
    """
    if project not in pcloud.caps:
        return
    try:
        there = tenant_servers.present(context, server)
    except exception.Unavailable:
        raise _unknown(pcloud)
    if any(wanted.beyond(there).values()):
        _check(context, pcloud, project, there, wanted, server)


def _check(
    context: nova_context.RequestContext, pcloud: access.Pcloud,
    project: str, there: caps.Amounts, wanted: caps.Amounts,
    server: str | None,
) -> None:
    """Compare what a tenant may use with what it would use.

    :param there: what the servers of the request use now
    :param wanted: what the servers of the request are to use
    :param server: a server of the request, None for one that is not known
    """
    its_caps = caps.read(pcloud.id, pcloud.caps, project)
    try:
        servers = tenant_servers.read(
            context, pcloud.id, pcloud.hosts, project, server)
    except exception.Unavailable:
        raise _unknown(pcloud)
    others = [its.amounts for uuid, its in servers.items() if uuid != server]
    caps.check(pcloud.id, its_caps, caps.total([*others, there]),
               wanted.beyond(there))


def _unknown(pcloud: access.Pcloud) -> exception.UseUnknown:
    return exception.UseUnknown(
        pcloud=pcloud.id, reason=coded.Reason('use_unknown'))
