# SPDX-License-Identifier: Apache-2.0

"""Requests for servers, made as nova-conductor makes requests.

A request is made for a server that does not exist, or read for a server that
was asked for before.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.pci import request as pci_request
from nova.scheduler import request_filter
from nova.scheduler import utils
from nova.virt import hardware
from oslo_utils import uuidutils

from pcloud import exception
from pcloud.rules import coded
from pcloud.rules import forms
from pcloud.scheduler import prefilter

_GROUP = 'group'
# Nova's errors about a flavor, or about a flavor with an image.
_NOT_RIGHT = (nova_exception.Invalid,
              nova_exception.FlavorImageConflict,
              nova_exception.PciRequestAliasNotDefined)


@dataclasses.dataclass(frozen=True)
class RequestRefused:
    """The answer of a request filter that ends a request.

    :ivar rule: the name of the request filter
    """

    rule: str
    reason: str


def make(
    context: nova_context.RequestContext, flavor: objects.Flavor,
    image: objects.ImageMeta, project_id: str,
    hints: Mapping[str, Sequence[str]], zone: str | None = None,
) -> objects.RequestSpec:
    """Return the request of a server that a project might start.

    :param hints: each hint with all its values
    :param zone: the availability zone asked for, None for any
    :raises: `exception.FlavorUnusable` when the flavor is not right, or does
        not fit the image; `exception.ServerGroupUnknown`
    """
    try:
        spec = objects.RequestSpec.from_components(
            context, uuidutils.generate_uuid(), image, flavor,
            hardware.numa_get_constraints(flavor, image),
            pci_request.get_pci_requests_from_flavor(flavor),
            {'scheduler_hints': dict(hints)}, _group(context, hints), zone,
            project_id=project_id)
        # Only this call refuses some combinations of flavor and image.
        utils.ResourceRequest.from_request_spec(spec)
        return spec
    except _NOT_RIGHT as error:
        raise exception.FlavorUnusable(
            flavor=flavor.flavorid, reason=error.format_message())


def _group(
    context: nova_context.RequestContext,
    hints: Mapping[str, Sequence[str]],
) -> objects.InstanceGroup | None:
    """Return the server group named in a request."""
    for group_id in hints.get(_GROUP, ()):
        try:
            return objects.InstanceGroup.get_by_uuid(context, group_id)
        except nova_exception.InstanceGroupNotFound:
            raise exception.ServerGroupUnknown(group=group_id)
    return None


def stored(
    context: nova_context.RequestContext, server: str,
) -> objects.RequestSpec:
    """Return the request of a server, as stored by Nova.

    :param server: the id of the server, which may have failed
    :raises: `exception.NotFound`
    """
    try:
        if not forms.is_uuid(server):
            raise nova_exception.RequestSpecNotFound(instance_uuid=server)
        spec = objects.RequestSpec.get_by_instance_uuid(context, server)
    except nova_exception.RequestSpecNotFound:
        raise exception.NotFound(
            f'There is no request for a server {server} in Nova; it takes '
            'the id of a server that is not deleted and archived.')
    # Nova does not store these fields; the requests of the server's ports
    # are not known any more.
    spec.requested_destination = None
    spec.requested_resources = []
    spec.request_level_params = objects.RequestLevelParams()
    return spec


def reason(
    error: nova_exception.RequestFilterFailed | nova_exception.NoValidHost,
) -> coded.Reason:
    """Return why Nova ends a request, without Nova's general sentence."""
    return coded.of(error.kwargs.get('reason') or error.format_message())


def look_up_group(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
) -> None:
    """Fill in the hosts of the servers of a request's group, if any."""
    utils.setup_instance_group(context, spec)


def no_image() -> objects.ImageMeta:
    """Return an image without requirements."""
    return objects.ImageMeta.from_dict({})


def narrow(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
) -> None:
    """Ask all request filters, Nova's and Pcloud's, as nova-scheduler does.

    :raises: `nova.exception.RequestFilterFailed`
    """
    prefilter.register()
    request_filter.process_reqspec(context, spec)


def refusals(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
) -> list[RequestRefused]:
    """Ask all request filters, as `narrow`, and go on after a refusal.

    nova-scheduler stops at the first refusal.
    """
    prefilter.register()
    results = []
    for filter_ in request_filter.ALL_REQUEST_FILTERS:
        try:
            filter_(context, spec)
        except nova_exception.RequestFilterFailed as error:
            results.append(RequestRefused(filter_.__name__, reason(error)))
    return results
