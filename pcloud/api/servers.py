# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What nova-api does to a request for a server before Nova sees it.

Bad placement keys are refused here, and the customer keys that the server is
started with are compiled and recorded in its hints: they are kept with its
request spec for as long as it lives, and no later change of a policy, a
flavor or an image changes them.

Source: CONTRACT section 6.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import json
import re

from keystoneauth1 import exceptions as ks_exc
from nova.api.openstack import wsgi as nova_wsgi
from nova import context as nova_context
from nova import exception as nova_exception
from nova.image import glance
from nova import objects
from oslo_config import cfg
from oslo_utils import uuidutils

from pcloud.aggregates import affinity_keys
from pcloud.aggregates import scoped_policies
from pcloud.aggregates import snapshot
from pcloud import exception
from pcloud.rules import access
from pcloud.rules import affinity
from pcloud.rules import hints as hint_rules

CONF = cfg.CONF

KEY_HINT = 'placement_key'

_PATH = re.compile(r'(?:/[0-9a-f-]+)?/(?:servers|os-volumes_boot)')
_SERVERS = re.compile(r'(?:/[0-9a-f-]+)?/servers')
_MARK = f'"{affinity_keys.RECORD_PREFIX}'.encode()
# So many keys are taken from the hints of a request.
_MOST_KEYS = 100
# Nova takes the first of these that is there.
_HINTS = ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints')


def prepare(request: nova_wsgi.Request) -> None:
    """Record the keys of a server that is to be created.

    Whatever is not such a request, or not well-formed, is left to Nova.

    :raises: `exception.InvalidPlacementKey`, `exception.ReservedHint`
    """
    if request.method != 'POST' or not _PATH.fullmatch(request.path_info):
        return
    try:
        body = json.loads(request.body)
        server = body['server']
        name = next((each for each in _HINTS if each in body), _HINTS[0])
        hints = body.get(name, {})
        if not isinstance(server, dict) or not isinstance(hints, dict):
            return
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return
    record = _record(request.environ['nova.context'], server, hints)
    if record:
        body[name] = {**hints, **record}
        request.body = json.dumps(body).encode()


def answer(request: nova_wsgi.Request, application):
    """Return what answers a request, without what was recorded.

    Nova shows the hints of servers; the keys that a project or a Pcloud gave
    to a server are not for everybody who may start one.
    """
    if not _SERVERS.match(request.path_info):
        return application
    response = request.get_response(application)
    if _MARK in response.body:
        body = json.loads(response.body)
        _strip(body)
        response.body = json.dumps(body).encode()
    return response


def _strip(found: object) -> None:
    """Take records out of all hints in an answer's body."""
    if isinstance(found, list):
        for each in found:
            _strip(each)
    elif isinstance(found, dict):
        for name in [name for name in found if isinstance(name, str) and
                     name.startswith(affinity_keys.RECORD_PREFIX)]:
            del found[name]
        for each in found.values():
            _strip(each)


def _record(
    context: nova_context.RequestContext, server: Mapping, hints: Mapping,
) -> dict[str, list[str]]:
    """Return the hints to add."""
    for name in hints:
        if name.startswith(affinity_keys.RECORD_PREFIX):
            raise exception.ReservedHint(name=name)
    own = _own_keys(hints.get(KEY_HINT))
    properties, trusted = _image(context, server.get('imageRef'))
    pcloud = _pcloud(context, hints)
    domain = context.project_domain_id or ''
    scopes = [(scoped_policies.PROJECT, context.project_id),
              (scoped_policies.PCLOUD, pcloud),
              (scoped_policies.DOMAIN, domain)]
    policies = scoped_policies.several(context, scopes)
    project, of_pcloud = (
        policies[each].customer_keys if each in policies else ()
        for each in scopes[:2])
    customer = affinity.compiled([
        project, affinity_keys.customer(
            properties, affinity_keys.IMAGE_CUSTOMER_PREFIX), of_pcloud,
        affinity_keys.customer(_extra_specs(
            context, server.get('flavorRef'))), own])
    image = affinity_keys.system(
        properties, affinity_keys.IMAGE_SYSTEM_PREFIX) if trusted else []
    record = {affinity_keys.CUSTOMER_RECORD: _texts(customer.values()),
              affinity_keys.IMAGE_RECORD: _texts(image),
              affinity_keys.DOMAIN_RECORD:
                  [domain] if scopes[2] in policies else []}
    return {name: values for name, values in record.items() if values}


def _texts(keys: Iterable[affinity.Key]) -> list[str]:
    return [str(key) for key in keys]


def _own_keys(values: object) -> list[affinity.Key]:
    """Read the keys of the hint.

    :raises: `exception.InvalidPlacementKey`
    """
    if values is None:
        return []
    if not isinstance(values, list):
        values = [values]
    if len(values) > _MOST_KEYS:
        raise exception.InvalidPlacementKey(
            key=values[_MOST_KEYS], expected=f'one of at most {_MOST_KEYS}')
    found: dict[str, affinity.Key] = {}
    for value in values:
        key = affinity.check_customer(affinity.parse(str(value)))
        if key.name.casefold() in found:
            raise exception.InvalidPlacementKey(
                key=value, expected='the only one of its name, whatever the '
                                    'letter case')
        found[key.name.casefold()] = key
    return list(found.values())


def _pcloud(
    context: nova_context.RequestContext, hints: Mapping,
) -> str:
    """Return the id of the Pcloud that the server is for, else ''.

    One of which the project is no tenant tells nothing.
    """
    name = hint_rules.PCLOUD_HINT
    if name not in hints:
        return ''
    values = hints[name]
    try:
        # As Nova will keep it in the request spec.
        wanted = hint_rules.pcloud_id({
            name: values if isinstance(values, list) else [values]})
    except exception.InvalidHint:
        return ''
    found = snapshot.pcloud_access(context, wanted)
    verdict = access.project_verdict(
        found[1] if found else None, context.project_id)
    return wanted if verdict else ''


def _image(
    context: nova_context.RequestContext, reference: object,
) -> tuple[Mapping[str, str], bool]:
    """Return an image's properties, and whether its system keys count.

    An image that cannot be had is for Nova to refuse, and so is anything but
    an id: from an address the token would be sent to whoever is there.
    """
    if not uuidutils.is_uuid_like(reference):
        return {}, False
    try:
        image = glance.API().get(context, reference)
    except (nova_exception.NovaException, ks_exc.ClientException):
        return {}, False
    trusted = bool(image.get('is_public')) or (
        image.get('owner') in CONF.pcloud.system_key_image_projects)
    return image.get('properties') or {}, trusted


def _extra_specs(
    context: nova_context.RequestContext, flavor: object,
) -> Mapping[str, str]:
    try:
        # Nova takes the last part of an address for the id, too.
        return objects.Flavor.get_by_flavor_id(
            context, str(flavor).rsplit('/', 1)[-1]).extra_specs
    except nova_exception.FlavorNotFound:
        return {}
