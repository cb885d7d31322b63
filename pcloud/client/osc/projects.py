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

"""The project argument of the commands."""

import argparse
import typing

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


def find_id(client_manager: typing.Any,
            parsed_args: argparse.Namespace) -> str:
    """Find the id of the named project.

    A user who may not look projects up is assumed to have given an id.

    :raises osc_lib.exceptions.CommandError: when Keystone knows no such
        project, or several
    """
    return identity.find_project(
        client_manager.identity, parsed_args.project,
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
