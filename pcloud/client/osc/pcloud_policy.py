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

"""The commands of scoped policies."""

import argparse
import typing

from pcloud.client import display
from pcloud.client.osc import common

_SCOPES = ('cloud', 'domain', 'project', 'pcloud', 'role')
_KEY = 'NAME=VALUE:WEIGHT'
# Part -> the value that empties the part.
_NONE: dict[str, typing.Any] = {
    'constraints': '', 'system_keys': [], 'customer_keys': []}


class ShowPcloudPolicy(common.ShowOne):
    """Show the policy for the servers of a scope

    The owner of a Pcloud sees the Pcloud's constraints and customer keys; an
    admin sees all.
    """

    _epilog = ('Example:\n  openstack pcloud policy show pcloud render-farm '
               '--effective')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the scope and the option of effective constraints."""
        _add_scope_arguments(parser)
        parser.add_argument(
            '--effective', action='store_true',
            help='Show which constraints count there too, and where each of '
                 'them comes from')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the policy."""
        get = (self.client.get_effective_policy if parsed_args.effective
               else self.client.get_policy)
        policy = get(parsed_args.scope, _find_id(self, parsed_args))
        return common.record(policy, display.policy_fields(policy))


class SetPcloudPolicy(common.ShowOne):
    """Set the policy for the servers of a scope

    The given parts take the place of the former parts; the rest of the policy
    stays. System keys, and scopes except Pclouds of your project, are for
    admins.
    """

    _epilog = ('Example:\n  openstack pcloud policy set pcloud render-farm '
               '--customer-key Repel1=1:-100')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the scope, the constraints and the keys."""
        _add_scope_arguments(parser)
        parser.add_argument(
            '--constraints', metavar='<constraints>',
            help='Machine constraints, such as "ram=2G rack=r1"')
        parser.add_argument(
            '--system-key', metavar=f'<{_KEY}>', dest='system_keys',
            action='append',
            help='System placement key (repeat for several)')
        parser.add_argument(
            '--customer-key', metavar=f'<{_KEY}>', dest='customer_keys',
            action='append',
            help='Customer placement key (repeat for several)')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Set the given parts, and show the whole policy."""
        changes = common.require_changes(
            {'constraints': parsed_args.constraints,
             'system_keys': parsed_args.system_keys,
             'customer_keys': parsed_args.customer_keys},
            '--constraints, --system-key and --customer-key')
        policy = self.client.update_policy(
            parsed_args.scope, _find_id(self, parsed_args), **changes)
        return common.record(policy, display.policy_fields(policy))


class UnsetPcloudPolicy(common.PcloudCommand):
    """Remove the policy for the servers of a scope, or parts of the policy

    Without options, the whole policy is removed (admin only).
    """

    _epilog = ('Example:\n  openstack pcloud policy unset pcloud render-farm '
               '--customer-keys')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the scope and the parts."""
        _add_scope_arguments(parser)
        parser.add_argument('--constraints', action='store_true',
                            help='Only its constraints')
        parser.add_argument('--system-keys', action='store_true',
                            help='Only its system keys')
        parser.add_argument('--customer-keys', action='store_true',
                            help='Only its customer keys')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Remove the parts, or the whole policy."""
        scope, scope_id = parsed_args.scope, _find_id(self, parsed_args)
        parts = {name: none for name, none in _NONE.items()
                 if getattr(parsed_args, name)}
        if parts:
            self.client.update_policy(scope, scope_id, **parts)
        else:
            self.client.delete_policy(scope, scope_id)


def _add_scope_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'scope', metavar='<scope>', choices=_SCOPES,
        help=f'One of {", ".join(_SCOPES)}')
    parser.add_argument(
        'id', metavar='<id>', nargs='?', default='default',
        help='Id of the domain or project, id or name of the Pcloud, name of '
             'the role; none for the cloud')


def _find_id(
    command: common.PcloudCommand, parsed_args: argparse.Namespace,
) -> str:
    if parsed_args.scope == 'pcloud':
        return command.client.find_pcloud(parsed_args.id).id
    return parsed_args.id
