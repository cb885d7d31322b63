# SPDX-License-Identifier: Apache-2.0

"""The projects and domains that commands name."""

import argparse
from collections.abc import Callable
from collections.abc import Collection
import typing

from keystoneauth1 import exceptions as ksa_exceptions
from openstackclient.identity import common as identity
from osc_lib import exceptions as osc_exceptions


def add_arguments(parser: argparse.ArgumentParser,
                  **options: typing.Any) -> None:
    """Add the argument that names a project, and the option of the domain.

    :param options: further options of the argument, such as nargs
    """
    parser.add_argument('project', metavar='<project>', **{
        'help': 'Project (name or id; the id where Keystone does not let '
                'you look projects up)', **options})
    identity.add_project_domain_option_to_parser(parser)


def add_scope_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a project, a domain or the cloud."""
    one = parser.add_mutually_exclusive_group()
    one.add_argument(
        '--project', metavar='<project>',
        help='Project (name or id; default: the one you are logged in to; '
             'admin for others)')
    one.add_argument(
        '--domain', metavar='<domain>',
        help='All projects of the domain (name or id) that have set nothing '
             '(admin only)')
    one.add_argument(
        '--cloud', action='store_true',
        help='All projects of the cloud that have set nothing, and whose '
             'domains have not (admin only)')
    identity.add_project_domain_option_to_parser(parser)


def find_id(client_manager: typing.Any,
            parsed_args: argparse.Namespace) -> str:
    """Find the id of the named project.

    A user who may not look projects up is assumed to have given an id.

    :raises osc_lib.exceptions.CommandError: when Keystone knows no such
        project, or several
    """
    return find_project(client_manager, parsed_args.project,
                        parsed_args.project_domain).id


def find_id_even_deleted(client_manager: typing.Any,
                         parsed_args: argparse.Namespace) -> str:
    """Find the id of a project that Keystone may have deleted already.

    :returns: the id, or the given text where Keystone does not know the
        project
    """
    try:
        return find_id(client_manager, parsed_args)
    except osc_exceptions.CommandError:
        return parsed_args.project


def find_domain(client_manager: typing.Any, name_or_id: str) -> typing.Any:
    """Find a domain, with the members id and name.

    A user who may not look domains up is assumed to have given an id.

    :raises osc_lib.exceptions.CommandError: when Keystone knows no such
        domain, or several
    """
    return identity.find_domain(client_manager.identity, name_or_id)


def find_project(client_manager: typing.Any, name_or_id: str,
                 domain: str | None) -> typing.Any:
    """Find a project, as :func:`find_domain` a domain.

    The caller's project is found by name whatever the caller may look up: the
    token names the project.

    :param domain: the name or id of the project's domain, None for any
    """
    found = identity.find_project(
        client_manager.identity, name_or_id, domain)
    if found.id != name_or_id or domain is not None:
        return found
    own = [its for its, name in _own(client_manager).items()
           if name == name_or_id]
    return type(found)(None, {'id': own[0], 'name': name_or_id}) if (
        own) else found


def names(client_manager: typing.Any,
          project_ids: Collection[str]) -> dict[str, str]:
    """Return id -> name of projects, as far as Keystone tells the caller.

    Keystone is asked twice at most: for the projects of the caller, and for
    all projects, which administrators may see.
    """
    known = _own(client_manager)
    for ask in (_of_caller, _of_everybody):
        if known.keys() >= set(project_ids):
            break
        known |= _asked(client_manager, ask)
    return {project_id: known[project_id] for project_id in project_ids
            if project_id in known}


def _own(client_manager: typing.Any) -> dict[str, str]:
    """Return id -> name of the project that the caller is logged in to."""
    token = client_manager.auth_ref
    if token is None or not token.project_id:
        return {}
    return {token.project_id: token.project_name}


def _of_caller(keystone: typing.Any) -> typing.Any:
    return keystone.auth.projects()


def _of_everybody(keystone: typing.Any) -> typing.Any:
    return keystone.projects.list()


def _asked(client_manager: typing.Any,
           ask: Callable[[typing.Any], typing.Any]) -> dict[str, str]:
    try:
        return {project.id: project.name
                for project in ask(client_manager.identity)}
    except ksa_exceptions.ClientException:
        # Nobody needs the names: the ids are shown.
        return {}
