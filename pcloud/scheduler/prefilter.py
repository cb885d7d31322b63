# SPDX-License-Identifier: Apache-2.0

"""Narrow a request to the right hosts, before Nova asks Placement.

Nova calls the functions of ``request_filter.ALL_REQUEST_FILTERS`` for every
request about to be placed. Pcloud's request filter narrows a request with the
hint ``pcloud`` to the hosts of its Pcloud, so a Pcloud of 3 hosts works in a
cloud of 20,000, and keeps all pools away from a request without the hint.
Whether a request that prefers a Pcloud goes there is decided here, and nowhere
else. A request with hints about certain hosts is sent without a limit, so the
right hosts do not get lost in a large cloud; so is a request with constraints
on resource classes or traits, which few hosts may have.

The request filter is needed for more than speed: a host forced by an
administrator skips the scheduler's filters, and then only request filters are
asked.

Rule: reference-isolation-request-filter
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterable
import random

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.scheduler import request_filter
from oslo_config import cfg
from oslo_log import log as logging

from pcloud.backend.aggregates import isolation
from pcloud import exception
from pcloud import names
from pcloud.objects.placing import tenant_caps
from pcloud.objects.placing import usable_pclouds
from pcloud.objects import reconcile
from pcloud.rules.placing import access
from pcloud.rules.placing import constraints
from pcloud.rules.placing import hints
from pcloud.rules.usage import caps
from pcloud.scheduler import memo
from pcloud.scheduler import open_hosts
from pcloud.scheduler import preferred_pcloud
from pcloud.scheduler import request

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# How many hosts with a due change a request reconciles at most.
_FINISHED = 10
# A hint of Nova's own, for which Nova asks Placement without a limit; Nova's
# filters ignore the hint without a value.
_UNLIMITED = 'same_host'


def register() -> None:
    """Make Nova ask `pcloud_aggregates`; harmless when repeated."""
    if not is_registered():
        request_filter.ALL_REQUEST_FILTERS.append(pcloud_aggregates)


def is_registered() -> bool:
    """Whether Nova asks `pcloud_aggregates`."""
    return pcloud_aggregates in request_filter.ALL_REQUEST_FILTERS


def narrow_as_nova(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
) -> None:
    """Ask Nova's own request filters, without Pcloud's.

    :raises: `nova.exception.RequestFilterFailed`
    """
    for filter_ in request_filter.ALL_REQUEST_FILTERS:
        if filter_ is not pcloud_aggregates:
            filter_(context, spec)


@request_filter.trace_request_filter
def pcloud_aggregates(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
) -> bool:
    """Require the Pcloud's aggregate, or forbid that of all closed hosts.

    The aggregates travel in a URL, so it is one aggregate of Placement for
    the hosts of all pools and Pclouds, which Nova does not know.

    :returns: True, which makes Nova log the time taken
    :raises: `nova.exception.RequestFilterFailed` when no host can be right;
        the reason becomes the server's fault
    """
    request_hints = request.scheduler_hints(spec)
    if not hints.NARROWING.isdisjoint(request_hints):
        _lift_limit(spec)
    try:
        preferred = hints.preferred_id(request_hints)
        if preferred is not None:
            _prefer_pcloud(context, spec, preferred)
        elif (wanted := request.pcloud_id(spec)) is not None:
            _require_pcloud(context, spec, wanted)
        else:
            _forbid_closed(context, spec)
    except (exception.InvalidHint, exception.InvalidValue,
            exception.PcloudUnusable) as error:
        LOG.info('No host for a server of project %(project)s: %(error)s',
                 {'project': spec.project_id, 'error': error})
        raise nova_exception.RequestFilterFailed(reason=str(error))
    return True


def _forbid_closed(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
) -> None:
    _destination(spec).append_forbidden_aggregates({names.CLOSED_UUID})
    if _is_forced(spec):
        _ignore(spec, isolation.closed_hosts(context))
    elif _has_constraints_of_placement(spec):
        _lift_limit(spec)


def _has_constraints_of_placement(spec: objects.RequestSpec) -> bool:
    """Whether `ConstraintsFilter` is going to ask Placement about hosts.

    Placement is not asked for these hosts alone. Nova could require traits of
    a compute node, but not of the node's devices, and a request without a host
    would end without the name of the constraint. What is read here the filter
    need not read.

    Rule: reference-constraints-placement
    """
    if 'ConstraintsFilter' not in CONF.filter_scheduler.enabled_filters:
        return False
    try:
        return any(map(constraints.is_of_placement,
                       request.constraint_settings(spec)))
    except exception.Invalid:
        # The filter states the reason.
        return False


def _require_pcloud(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    wanted: str,
) -> None:
    uuid, pcloud = _usable_pcloud(context, spec, wanted)
    _narrow(context, spec, uuid, pcloud)
    destination = spec.requested_destination
    # Nova finds the host of a node only where hosts are known.
    if not (_is_forced(spec) or 'host' in destination or
            'node' in destination):
        open_hosts.check_room(context, spec, pcloud)


def _prefer_pcloud(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    preferred: str,
) -> None:
    """Decide for all servers of a request whether the Pcloud has capacity.

    A Pcloud that the project may not use is the same as no Pcloud, and nobody
    is told.
    """
    request_memo = memo.of_request(spec)
    request_memo.place = ''
    try:
        uuid, pcloud = _usable_pcloud(context, spec, preferred)
    except exception.PcloudUnusable:
        _forbid_closed(context, spec)
        return
    inside = _destination(spec).obj_clone()
    inside.require_aggregates([uuid])
    if preferred_pcloud.has_place(context, spec, pcloud, inside):
        request_memo.place = preferred
        _lift_limit(spec)
        _narrow(context, spec, uuid, pcloud)
    else:
        _forbid_closed(context, spec)


def _usable_pcloud(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    wanted: str,
) -> tuple[str, access.Pcloud]:
    """Return a Pcloud that a request may use, with its changes finished.

    :raises: `exception.PcloudUnusable`, also for a request beyond the caps of
        its project, `exception.InvalidValue`
    """
    asked = usable_pclouds.asked(spec)
    uuid, pcloud = usable_pclouds.find(context, wanted, asked)
    if pcloud.due:
        # Whoever made the change may have died, or be at it.
        reconcile.finish(context, random.sample(
            sorted(pcloud.due), min(_FINISHED, len(pcloud.due))))
        uuid, pcloud = usable_pclouds.find(context, wanted, asked)
    _check_caps(context, spec, pcloud)
    return uuid, pcloud


def _check_caps(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    pcloud: access.Pcloud,
) -> None:
    """Refuse a request beyond the caps of its project; moves are not counted.

    :raises: `exception.PcloudUnusable`

    Rule: reference-usage-caps
    """
    one = caps.Amounts(1, *((spec.flavor.vcpus, spec.flavor.memory_mb)
                            if 'flavor' in spec else ()))
    try:
        if request.is_move(spec):
            tenant_caps.check_change(
                context, pcloud, spec.project_id, spec.instance_uuid, one)
        else:
            tenant_caps.check_launch(
                context, pcloud, spec.project_id,
                one.times(request.servers(spec)),
                spec.instance_uuid if 'instance_uuid' in spec else None)
    except (exception.CapExceeded, exception.UseUnknown) as error:
        raise exception.PcloudUnusable(
            pcloud=pcloud.id, reason=error.details['reason'])


def _narrow(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    uuid: str, pcloud: access.Pcloud,
) -> None:
    """Narrow a request to the hosts of a Pcloud.

    :raises: `exception.PcloudUnusable` for a forced host that is no open host
        of the Pcloud: Placement may not know yet that a host has left
    """
    _warn_of_inconsistency(pcloud)
    memo.of_request(spec).maintenances = pcloud.maintenances
    _destination(spec).require_aggregates([uuid])
    if _is_forced(spec):
        nodes = open_hosts.nodes(context, pcloud)
        if not any(_is_forced_to(spec, host, node.hypervisor_hostname)
                   for host, node in nodes.items()):
            raise exception.PcloudUnusable(
                pcloud=pcloud.id,
                reason='the host that is asked for is not an enabled host '
                       'of the Pcloud')
        _ignore(spec, pcloud.hosts.keys() - nodes.keys())


def _lift_limit(spec: objects.RequestSpec) -> None:
    """Make Placement return all hosts, as only some hosts are right.

    The right hosts may be missing among ``[scheduler] max_placement_results``,
    and Nova can name a single host to Placement but not several.
    """
    spec.scheduler_hints = {_UNLIMITED: [], **request.scheduler_hints(spec)}


def _warn_of_inconsistency(pcloud: access.Pcloud) -> None:
    """Warn once per request, not once per host, of hosts that nobody gets."""
    shared = sorted(host for host, count in pcloud.hosts.items()
                    if count != 1)
    if shared:
        LOG.warning('Hosts %(hosts)s of Pcloud %(pcloud)s are in another '
                    'Pcloud too; no project gets them until one lets them go.',
                    {'hosts': ', '.join(shared), 'pcloud': pcloud.id})


def _destination(spec: objects.RequestSpec) -> objects.Destination:
    if ('requested_destination' not in spec or
            spec.requested_destination is None):
        spec.requested_destination = objects.Destination()
    return spec.requested_destination


def _is_forced(spec: objects.RequestSpec) -> bool:
    """Whether the request skips the scheduler's filters."""
    return any(field in spec and getattr(spec, field)
               for field in ('force_hosts', 'force_nodes'))


def _is_forced_to(spec: objects.RequestSpec, host: str, node: str) -> bool:
    """Whether Nova would take a host and its node for a forced request."""
    return all(
        not (field in spec and getattr(spec, field)) or
        name.lower() in map(str.lower, getattr(spec, field))
        for field, name in (('force_hosts', host), ('force_nodes', node)))


def _ignore(spec: objects.RequestSpec, hosts: Iterable[str]) -> None:
    """Exclude hosts from a request that skips the filters."""
    ignored = spec.ignore_hosts if 'ignore_hosts' in spec else None
    spec.ignore_hosts = sorted({*(ignored or []), *hosts})
