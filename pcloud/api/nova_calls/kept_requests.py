# SPDX-License-Identifier: Apache-2.0

"""Refuse calls that the request of an existing server does not allow.

A server keeps what the server was started with. An unshelve into a Pcloud that
is gone, or closed to the project, is accepted by Nova and ends without a host
and without a fault. A rebuild asks no filter, so a server could get an image
that a launch refuses.

Rule: reference-isolation-kept
"""

from collections.abc import Callable
from collections.abc import Mapping

from nova.api.openstack.compute import servers as nova_servers
from nova.policies import servers as server_policies
from nova.policies import shelve

from pcloud.api.nova_calls import dispatch
from pcloud.api.nova_calls import images
from pcloud.api.nova_calls import launch_sizes
from pcloud.backend.aggregates import isolation
from pcloud.backend.cells import shelved_servers
from pcloud.backend import request_specs
from pcloud import exception
from pcloud.objects.placing import tenant_caps
from pcloud.objects.placing import usable_pclouds
from pcloud.rules.placing import access
from pcloud.rules.placing import colocation
from pcloud.rules.placing import hints
from pcloud.rules.placing import house_rules
from pcloud.rules.usage import caps


def check(call: dispatch.NovaCall) -> None:
    """Refuse what a server's request does not allow.

    One query where the call is of `_CHECKS`, else none. Nova
    answers all other calls, calls that are not well-formed, and calls that the
    caller may not make.

    :raises: as `_check_unshelve`, `_check_resize` and `_check_rebuild`
    """
    if not call.is_of(nova_servers.ServersController, *_CHECKS):
        return
    rule, check_request = _CHECKS[call.action]
    spec = request_specs.of_server(
        call.context.elevated(), call.arguments['id'])
    if spec is not None and call.may(rule, spec.project):
        check_request(call, spec)


def _check_unshelve(
    call: dispatch.NovaCall, spec: request_specs.Spec,
) -> None:
    """Refuse an unshelve that could only end without a host.

    Two queries where the server was started in a Pcloud, and two more where
    the project may not use the Pcloud. A server that is still on its host
    needs no other host.

    :raises: `exception.Conflict` for such an unshelve,
        `exception.InvalidHint`, `exception.InvalidValue`,
        `exception.Unavailable` when the server's cell is silent, and as
        `tenant_caps.check_change`
    """
    home = hints.pcloud_id(spec.hints)
    if home is None:
        return
    server = call.arguments['id']
    try:
        _, pcloud = usable_pclouds.find(
            call.context, home, house_rules.Asked(
                spec.project, spec.flavor_id, spec.image,
                hints.host_name(spec.hints)))
    except exception.PcloudUnusable as error:
        if shelved_servers.is_off_its_host(call.context, server):
            raise exception.Conflict(
                f'Server {server} cannot be unshelved: it can only come back '
                f'into Pcloud {home}, and that cannot be used: '
                f"{error.details['reason']}. The owner of the Pcloud can "
                'make the project a tenant again, and sets the rules of the '
                'Pcloud. Otherwise start a new '
                'server from the image that the shelving has made, or from '
                'the volume, before you delete this one.')
    else:
        tenant_caps.check_change(
            call.context, pcloud, spec.project, server, caps.Amounts(
                1, spec.vcpus, spec.memory_mb))


def _check_rebuild(
    call: dispatch.NovaCall, spec: request_specs.Spec,
) -> None:
    """Refuse an image with which the server could not have been started.

    Two queries where the server was started in a Pcloud, or prefers a Pcloud,
    in which it may be.

    :raises: as `images.check_flag` and `house_rules.check_image`
    """
    image = call.body.get(call.action)
    if isinstance(image, Mapping) and 'imageRef' in image:
        for home in hints.places(spec.hints):
            if pcloud := _pcloud(call, home):
                house_rules.check_image(pcloud, str(image['imageRef']))
        images.share(call.controller.compute_api)
        source = images.source(
            call.context, {'imageRef': image['imageRef']})
        images.check_flag(colocation.wish(spec.hints), spec.extra_specs.get(
            colocation.EXTRA_SPEC), source.properties)


def _check_resize(
    call: dispatch.NovaCall, spec: request_specs.Spec,
) -> None:
    """Refuse a flavor that the owner of the server's Pcloud does not allow.

    Two queries where the server was started in a Pcloud. A server that prefers
    a Pcloud may go outside.

    :raises: as `house_rules.check_flavor` and `tenant_caps.check_change`, and
        `exception.InvalidHint`
    """
    resize = call.body.get(call.action)
    if isinstance(resize, Mapping) and 'flavorRef' in resize and (
            pcloud := _pcloud(call, hints.pcloud_id(spec.hints))):
        house_rules.check_flavor(
            pcloud, dispatch.flavor_id(resize['flavorRef']))
        if spec.project in pcloud.caps and (wanted := launch_sizes.of_flavor(
                call.context, resize['flavorRef'])):
            tenant_caps.check_change(
                call.context, pcloud, spec.project, call.arguments['id'],
                wanted)


def _pcloud(
    call: dispatch.NovaCall, pcloud_id: str | None,
) -> access.Pcloud | None:
    """Return the Pcloud of a server, also where the project may not use it.

    A server stays in a Pcloud whose tenant its project was.
    """
    pair = None if pcloud_id is None else isolation.pcloud_access(
        call.context, pcloud_id)
    return pair[1] if pair else None


# Action -> the policy rule that Nova checks, and the check.
_CHECKS: Mapping[str, tuple[str, Callable[
    [dispatch.NovaCall, request_specs.Spec], None]]] = {
    'unshelve': (shelve.POLICY_ROOT % 'unshelve', _check_unshelve),
    'resize': (server_policies.SERVERS % 'resize', _check_resize),
    'rebuild': (server_policies.SERVERS % 'rebuild', _check_rebuild),
}
