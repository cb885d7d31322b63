# SPDX-License-Identifier: Apache-2.0

"""All calls of the Pcloud API, as a proxy of openstacksdk."""

from pcloud.sdk.calls import host_flavors
from pcloud.sdk.calls import hosts
from pcloud.sdk.calls import pclouds
from pcloud.sdk.calls import planning
from pcloud.sdk.calls import policies
from pcloud.sdk.calls import usage


class Proxy(
        host_flavors.HostFlavors, pclouds.Pclouds, hosts.Hosts,
        planning.Planning, policies.Policies, usage.Usages):
    """The proxy ``conn.pcloud``.

    Where a call takes a resource, an id will do, or the name of a host. Calls
    raise the exceptions of openstacksdk: BadRequestException,
    ForbiddenException, NotFoundException and ConflictException for what the
    API refuses, ResourceTimeout and ResourceFailure where a wait is in vain.
    """
