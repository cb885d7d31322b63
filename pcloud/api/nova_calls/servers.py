# SPDX-License-Identifier: Apache-2.0

"""The checks and changes of a request for a server, before Nova.

Wrong placement keys are refused. The customer keys that the server is started
with are compiled and recorded in the hints of the server: the server's request
spec keeps the hints as long as the server exists, and no later change of a
policy, a flavor or an image changes the recorded keys.

Rule: reference-isolation-launch, reference-placement-keys-recorded
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
from wsgiref import types

from nova.api.openstack import api_version_request
from nova.api.openstack.compute import servers as nova_servers
from nova.api.openstack import wsgi as nova_wsgi
from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from oslo_config import cfg
import webob

from pcloud.api import constraint_levels
from pcloud.api import enforcer
from pcloud.api.nova_calls import default_pclouds
from pcloud.api.nova_calls import device_keys
from pcloud.api.nova_calls import dispatch
from pcloud.api.nova_calls import growing_launches
from pcloud.api.nova_calls import images
from pcloud.api.nova_calls import launch_sizes
from pcloud.api.nova_calls import shown_hints
from pcloud.api.policies import others
from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import launch_rows
from pcloud import exception
from pcloud import names
from pcloud.objects.placing import affinity_keys
from pcloud.objects.placing import machine_constraints
from pcloud.objects.placing import scoped_policies
from pcloud.objects.placing import tenant_caps
from pcloud.rules.placing import access
from pcloud.rules.placing import affinity
from pcloud.rules.placing import colocation
from pcloud.rules.placing import default_pcloud
from pcloud.rules.placing import hints as hint_rules
from pcloud.rules.placing import house_rules
from pcloud.rules.placing import locality

CONF = cfg.CONF

# The most keys that are taken from the hints of a request.
_MOST_KEYS = 100
_CREATE = 'create'
# Nova takes the first of these members.
_HINTS = ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints')


def prepare(
    call: dispatch.NovaCall, rbac: enforcer.Enforcer,
) -> None:
    """Check the hints of a new server, and record the server's keys.

    Nova answers all calls that create no server, and calls that are not
    well-formed.

    :raises: `exception.Invalid` for hints that Nova would not read, and as
        `checked` and `growing_launches.check`
    """
    if not call.is_of(nova_servers.ServersController, _CREATE):
        return
    body = call.body
    if not isinstance(body, dict):
        return
    name = next((member for member in _HINTS if member in body), _HINTS[0])
    _check_ignored(body, name)
    server, hints = body.get('server'), body.get(name, {})
    if not isinstance(server, dict) or not isinstance(hints, dict):
        return
    images.share(call.controller.compute_api)
    launch = checked(call.context, server, hints, rbac, call.version)
    if launch.record:
        hints = {**hints, **launch.record}
        call.hand_on({**body, name: hints})
    if launch.default is not None and launch.default.growth is not None:
        growing_launches.check(
            call.context, launch.default, server, hints,
            dispatch.flavor_id(server.get('flavorRef')), launch.properties)


def _check_ignored(body: Mapping, read: str) -> None:
    """Refuse hints of ours in a member that Nova does not read.

    :param read: the member that Nova reads
    :raises: `exception.Invalid`
    """
    for member in _HINTS:
        if member == read or not isinstance(body.get(member), dict):
            continue
        for name in body[member]:
            if name in hint_rules.GIVEN or hint_rules.meant(name):
                raise exception.Invalid(
                    f"The scheduler hint '{name}' is in '{member}', which "
                    f"Nova ignores beside '{read}'; give all hints there.")


@dataclasses.dataclass(frozen=True)
class Checked:
    """A request for servers, checked.

    :ivar record: the hints to add
    :ivar default: the default Pcloud that counts for the servers, or None
    :ivar properties: the properties of the servers' image
    """

    record: Mapping[str, list[str]]
    default: default_pcloud.Default | None
    properties: Mapping[str, str]


def checked(
    context: nova_context.RequestContext, server: Mapping, hints: Mapping,
    rbac: enforcer.Enforcer, version: api_version_request.APIVersionRequest,
) -> Checked:
    """Check the hints of a server, and find the hints to add.

    :param server: the server in the body of the call that creates a server
    :param version: the microversion of the call
    :raises: `exception.InvalidHint`, `exception.InvalidValue`,
        `exception.Invalid` for hints that are not for users or are repeated,
        and as `rules.placing.locality.check`, `constraint_levels.read`,
        `machine_constraints.check_attributes`, `images.constraints`,
        `images.check_flag`, `default_pclouds.usable`, `_check_house_rules`
        and `device_keys.levels`
    """
    hint_rules.check_names(hints, CONF.pcloud.other_hints)
    hint_rules.check_text(hints)
    hint_rules.check_values(hints)
    hint_rules.preferred_id(_listed(hints))
    locality.check(hints)
    _check_constraints(context, hints, rbac)
    source = images.source(context, server)
    of_image = images.constraints(context, source.properties)
    wish = _wish(context, server, hints)
    home = _home(context, hints)
    scopes = _scopes(context, home)
    rows = launch_rows.read(
        context, [names.policy(*scope) for scope in scopes],
        dispatch.flavor_id(server.get('flavorRef')), colocation.EXTRA_SPEC)
    images.check_flag(wish, rows.extra_spec, source.properties)
    policies = scoped_policies.of_metadata(scopes, rows.metadata)
    default = None if default_pclouds.is_placed(
        server, hints, version) else (
        default_pclouds.usable(context, hints, policies.values()))
    added = {} if default is None else default.hint
    if added:
        home = _home(context, added)
        policies |= scoped_policies.by_scopes(
            [(scoped_policies.PCLOUD, home.id if home else '')])
    _check_house_rules(context, home, server, {**hints, **added})
    record = _record(context, server, hints, source, policies)
    if of_image:
        record[hint_rules.IMAGE_CONSTRAINTS_RECORD] = [of_image]
    return Checked(added | record, default, source.properties)


def answer(
    call: dispatch.NovaCall, application: types.WSGIApplication,
    rbac: enforcer.Enforcer,
) -> types.WSGIApplication:
    """Return the answer to a call, without hints that the caller may not see.

    The answer to a launch has no hints, and is handed on as Nova makes it.

    Rule: reference-isolation-shown
    """
    if call.action == _CREATE or not isinstance(
            call.controller, nova_servers.ServersController):
        return application
    return without_secrets(call.request, application, rbac)


def without_secrets(
    request: nova_wsgi.Request, application: types.WSGIApplication,
    rbac: enforcer.Enforcer,
) -> webob.Response:
    """Return Nova's answer without some hints of servers.

    Nova shows the hints of servers. The recorded keys of projects and Pclouds
    are hidden, as not everybody who may start a server may see the keys. The
    real host that an administrator has named is for administrators.
    """
    response = request.get_response(application)
    body = response.body
    shown = shown_hints.without_secrets(body, lambda: rbac.allow(
        request.environ['nova.context'], others.CONSTRAINTS_HOST, None))
    # The length of the answer is counted anew where the body is replaced.
    if shown is not body:
        response.body = shown
    return response


def _check_constraints(
    context: nova_context.RequestContext, hints: Mapping,
    rbac: enforcer.Enforcer,
) -> None:
    """Check the hint with machine constraints."""
    machine_constraints.check_attributes(context, constraint_levels.read(
        hint_rules.constraints(hints),
        lambda rule: rbac.allow(context, rule, None)))


def _wish(
    context: nova_context.RequestContext, server: Mapping, hints: Mapping,
) -> colocation.Wish:
    """Return the wishes about services, checked.

    One query for each flavor of another server that needs capacity.
    """
    wish = colocation.wish(hints)
    for companion in wish.room_for:
        if not _is_flavor(context, companion.flavor):
            raise exception.InvalidValue(
                f'Scheduler hint {hint_rules.ROOM_FOR}', companion,
                'the id of a flavor')
    if wish.room_for and any(str(server.get(member, 1)) != '1'
                             for member in ('min_count', 'max_count')):
        raise exception.InvalidValue(
            f'Scheduler hint {hint_rules.ROOM_FOR}', wish.room_for[0],
            'given for one server at a time')
    return wish


def _is_flavor(
    context: nova_context.RequestContext, reference: str,
) -> bool:
    """Whether a flavor is known, and visible to the caller."""
    flavor_id = dispatch.flavor_id(reference)
    try:
        objects.Flavor.get_by_flavor_id(context, flavor_id, 'no')
    except nova_exception.FlavorNotFound:
        return False
    return bool(flavor_id)


def _scopes(
    context: nova_context.RequestContext, home: access.Pcloud | None,
) -> list[tuple[str, str]]:
    """Return the scopes of the policies for a server.

    The most specific scope of a default Pcloud comes first.
    """
    return [*default_pclouds.scopes(context),
            *([(scoped_policies.PCLOUD, home.id)] if home else [])]


def _check_house_rules(
    context: nova_context.RequestContext, home: access.Pcloud | None,
    server: Mapping, hints: Mapping,
) -> None:
    """Refuse what the owner of the server's Pcloud does not allow.

    A server that only prefers a Pcloud may go outside, and the scheduler
    refuses a Pcloud that the project may not use.

    :param home: what `_home` returns
    :param hints: the hints of the server, with those of a default
    :raises: `exception.InvalidHint` for the name of a host of no Pcloud, and
        as `house_rules.narrowed` and `_check_caps`
    """
    hint_rules.require_pcloud(hints)
    if home is not None and hint_rules.PREFER not in hints:
        house_rules.narrowed(home, house_rules.Asked(
            context.project_id, dispatch.flavor_id(server.get('flavorRef')),
            images.image_id(server), hint_rules.host_name(
                {name: hint_rules.values(hints, name) for name in hints})))
        _check_caps(context, home, server)


def _check_caps(
    context: nova_context.RequestContext, home: access.Pcloud,
    server: Mapping,
) -> None:
    """Refuse servers beyond the caps of the caller's project.

    No query for a project without caps. Nova refuses a launch of which the
    flavor or the number of servers cannot be read.

    :raises: as `tenant_caps.check_launch`

    Rule: reference-usage-caps
    """
    if context.project_id in home.caps:
        asked = launch_sizes.of_launch(context, server)
        if asked is not None:
            tenant_caps.check_launch(
                context, home, context.project_id, asked)


def _record(
    context: nova_context.RequestContext, server: Mapping, hints: Mapping,
    source: images.Source,
    policies: Mapping[tuple[str, str], scoped_policies.Policy],
) -> dict[str, list[str]]:
    """Return the hints to add.

    The keys of the flavor are not recorded: the request spec has a copy of the
    flavor, which a resize replaces. A domain is recorded, as a user of another
    domain may move the server later.

    :param policies: the policies of the project, of the Pcloud, and of the
        levels above
    """
    for name in hints:
        if hint_rules.is_record(name):
            raise exception.Invalid(
                f"The scheduler hint '{name}' is not for users; leave it out.")
    _check_own_keys(hints.get(hint_rules.PLACEMENT_KEY, []))
    keys = {scope: policy.customer_keys
            for (scope, _), policy in policies.items()}
    customer = affinity.compiled([
        keys.get(scoped_policies.DOMAIN, ()),
        keys.get(scoped_policies.PROJECT, ()), affinity_keys.customer(
            source.properties, affinity_keys.IMAGE_CUSTOMER_PREFIX),
        keys.get(scoped_policies.PCLOUD, ())])
    image = affinity.compiled([affinity_keys.system(
        source.properties, affinity_keys.IMAGE_SYSTEM_PREFIX)]
        if source.trusted else [])
    # Of lower levels than the hint of the server.
    devices = device_keys.levels(context, server, source)
    record = {hint_rules.CUSTOMER_RECORD: _texts(customer.values()),
              hint_rules.IMAGE_RECORD: _texts(image.values()),
              hint_rules.DEVICE_RECORD: _texts(affinity.compiled(
                  level.customer for level in devices).values()),
              hint_rules.DEVICE_SYSTEM_RECORD: _texts(affinity.compiled(
                  level.system for level in devices).values()),
              hint_rules.DOMAIN_RECORD:
                  hint_rules.domain_record(
                      hint_rules.domain_id(context.project_domain_id))}
    return {name: values for name, values in record.items() if values}


def _texts(keys: Iterable[affinity.Key]) -> list[str]:
    return [str(key) for key in keys]


def _check_own_keys(values: object) -> None:
    """Check the keys of the hint ``placement_key``.

    :raises: `exception.InvalidValue`
    """
    if not isinstance(values, list):
        values = [values]
    if len(values) > _MOST_KEYS:
        raise exception.InvalidValue(
            'Placement key', values[_MOST_KEYS],
            f'one of at most {_MOST_KEYS}')
    affinity.distinct(map(str, values), affinity.check_customer)


def _home(
    context: nova_context.RequestContext, hints: Mapping,
) -> access.Pcloud | None:
    """Return the Pcloud that the server is for, None for none.

    A server may be for a Pcloud that the server prefers. A Pcloud that the
    caller's project may not use counts as no Pcloud.
    """
    listed = _listed(hints)
    try:
        wanted = hint_rules.pcloud_id(listed) or (
            hint_rules.preferred_id(listed))
        return None if wanted is None else isolation.usable_pcloud(
            context, wanted, context.project_id)[1]
    except (exception.InvalidHint, exception.PcloudUnusable):
        return None


def _listed(hints: Mapping) -> dict[str, list]:
    """Return the hints about Pclouds, as Nova keeps them in a request spec."""
    return {name: hint_rules.values(hints, name)
            for name in (hint_rules.PCLOUD, hint_rules.PREFER)
            if name in hints}
