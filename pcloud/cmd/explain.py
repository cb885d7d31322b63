# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage explain``: where a server would start, and why not."""

# Nova's objects are registered when the command starts, after the import.
from __future__ import annotations

import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import json

from keystoneauth1 import exceptions as ks_exc
from keystoneauth1 import loading as ks_loading
from nova.api.openstack import api_version_request
from nova import availability_zones
from nova.compute import api as compute
from nova import context as nova_context
from nova import exception as nova_exception
from nova.image import glance
from nova import objects
from oslo_config import cfg

from pcloud.api import enforcer
from pcloud.api.nova_calls import default_pclouds
from pcloud.api.nova_calls import servers
from pcloud.api import projects
from pcloud.cmd import explain_output
from pcloud import exception
from pcloud.explain import conductor
from pcloud.explain import schedule

CONF = cfg.CONF

NAME = 'explain'
FOUND, NONE = 0, 1
_VERSION = api_version_request.max_api_version()


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``explain`` to the command line."""
    parser = subparsers.add_parser(
        NAME, help='show where a server would be started, and why',
        description='Go the way of nova-scheduler with a request, without '
                    'claiming anything, and show how many hosts were dropped '
                    'where and why. Exits with 0 when there is a host, with '
                    '1 when there is none, with 2 when it could not look.')
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument('--flavor', metavar='FLAVOR',
                      help='the id or name of the flavor of a new server')
    what.add_argument('--server', metavar='ID',
                      help='a server that is there, failed or not: as it was '
                           'asked for')
    parser.add_argument('--hint', metavar='KEY=VALUE', action='append',
                        default=[], type=_hint,
                        help='a scheduler hint of the new server; may be '
                             'repeated')
    parser.add_argument('--project', metavar='ID',
                        help='whose server it is (default: no project\'s)')
    parser.add_argument('--image', metavar='ID',
                        help='its image, which may ask for more (default: '
                             'one that asks for nothing)')
    parser.add_argument('--availability-zone', metavar='ZONE',
                        help='the availability zone that is asked for')
    parser.add_argument('--verbose', action='store_true',
                        help='name each dropped host, in text; JSON always '
                             'does')
    parser.add_argument('--format', choices=['text', 'json'],
                        default='text', help='how to print it')
    parser.set_defaults(run=run)


def _hint(text: str) -> tuple[str, str]:
    name, equals, value = text.partition('=')
    if not name or not equals:
        raise argparse.ArgumentTypeError(f'{text!r} is not KEY=VALUE')
    return name, value


def run(command: argparse.Namespace) -> int:
    """Print on which hosts a server would be started, and why.

    :param command: the parsed command line
    :returns: the exit status
    """
    if command.server:
        _check_nothing_else(command)
        context = nova_context.get_admin_context()
        spec = conductor.stored(context, command.server)
    else:
        context = _context(command.project)
        spec = _new_request(context, command)
    explanation = schedule.explain(context, spec)
    default = None if command.server else _default(context, command)
    if command.format == 'json':
        document = explain_output.document(explanation)
        print(json.dumps({**document, 'default_pcloud': default}, indent=4))
    else:
        if default:
            print(f'The Pcloud is the default of the {default}.\n')
        print(explain_output.text(
            explanation, explain_output.named if command.verbose
            else explain_output.counted))
    return FOUND if explanation.best else NONE


def _default(
    context: nova_context.RequestContext, command: argparse.Namespace,
) -> str | None:
    """Return the scope whose default Pcloud counts, None for no default."""
    if default_pclouds.is_placed({}, dict(command.hint), _VERSION):
        return None
    return default_pclouds.source(context)


def _check_nothing_else(command: argparse.Namespace) -> None:
    given = [name for name in ('hint', 'project', 'image',
                               'availability_zone')
             if getattr(command, name)]
    if given:
        raise exception.Invalid(
            'A server is explained as it was asked for: leave out ' +
            ', '.join(f'--{option.replace("_", "-")}' for option in given))


def _context(project: str | None) -> nova_context.RequestContext:
    """Return the context of an administrator, for requests of a project.

    Requests to Glance use the credentials of [service_user].

    :raises: `exception.ProjectUnknown`
    """
    context = nova_context.get_admin_context()
    if project is not None:
        projects.check(context, project)
        context.project_domain_id = projects.domain(context, project) or ''
        context.project_id = project
    context.user_auth_plugin = ks_loading.load_auth_from_conf_options(
        CONF, 'service_user')
    return context


def _new_request(
    context: nova_context.RequestContext, command: argparse.Namespace,
) -> objects.RequestSpec:
    flavor = _flavor(context, command.flavor)
    hints: dict[str, list[str]] = {}
    for name, value in command.hint:
        hints.setdefault(name, []).append(value)
    image = conductor.no_image() if command.image is None else _image(
        context, command.image)
    return conductor.make(
        context, flavor, image, context.project_id,
        _recorded(context, flavor, command.image, hints),
        _zone(context, command.availability_zone))


def _zone(
    context: nova_context.RequestContext, asked: str | None,
) -> str | None:
    """Return the availability zone of a request, as nova-api finds the zone.

    :raises: `exception.NotFound`
    """
    if asked is None:
        return CONF.default_schedule_zone
    zones = availability_zones.get_availability_zones(
        context, compute.HostAPI(), get_only_available=True)
    if asked not in zones:
        shown = {*zones} - {CONF.internal_service_availability_zone}
        raise exception.NotFound(
            f"There is no availability zone '{asked}' with a host that is "
            f"up; there is {', '.join(sorted(shown)) or 'none'}.")
    return asked


def _flavor(
    context: nova_context.RequestContext, named: str,
) -> objects.Flavor:
    """Return a flavor by id or, where no flavor has the id, by name.

    :raises: `exception.FlavorNotFound`
    """
    for find in (objects.Flavor.get_by_flavor_id, objects.Flavor.get_by_name):
        try:
            return find(context, named)
        except nova_exception.FlavorNotFound:
            continue
        except nova_exception.FlavorNotFoundByName:
            break
    raise exception.FlavorNotFound(flavor=named)


def _image(
    context: nova_context.RequestContext, image: str,
) -> objects.ImageMeta:
    """Return the metadata of an image, as Nova reads the image.

    :raises: `exception.NotFound`
    """
    try:
        return objects.ImageMeta.from_image_ref(context, glance.API(), image)
    except (nova_exception.NovaException, ks_exc.ClientException) as error:
        raise exception.NotFound(
            f"Image '{image}' cannot be had from Glance: {error}")


def _recorded(
    context: nova_context.RequestContext, flavor: objects.Flavor,
    image: str | None, hints: Mapping[str, Sequence[str]],
) -> dict[str, Sequence[str]]:
    """Return the given hints and the hints that nova-api would add.

    :raises: `exception.Invalid` and `exception.NotFound` when nova-api would
        refuse the hints
    """
    return {**hints, **servers.checked(
        context, {'flavorRef': flavor.flavorid, 'imageRef': image}, hints,
        enforcer.Enforcer(), _VERSION).record}
