# SPDX-License-Identifier: Apache-2.0

"""The commands of scoped policies."""

import argparse
import dataclasses
import typing

from osc_lib import exceptions as osc_exceptions

from pcloud.client import display
from pcloud.client import exceptions
from pcloud.client.osc import common
from pcloud.client.osc import projects

_SCOPES = ('cloud', 'domain', 'project', 'pcloud', 'role')
# The id of the only policy of the scope cloud.
_DEFAULT = 'default'
# Scope -> the word of what the policy is for.
_WORDS = {'domain': 'domain', 'project': 'project', 'pcloud': 'Pcloud',
          'role': 'role'}
_KEY = 'NAME=VALUE:WEIGHT'
# Part -> the value that empties the part.
_NONE: dict[str, typing.Any] = {
    'constraints': '', 'system_keys': [], 'customer_keys': [],
    'share': None}


class ShowPcloudPolicy(common.ShowOne):
    """Show the policy for the servers of a scope

    The owner of a Pcloud sees the Pcloud's constraints and customer keys, and
    a project those of the project; an admin sees all.
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
        found = _find_even_deleted(self, parsed_args)
        policy = get(parsed_args.scope, found.id)
        names = {found.id: found.name} if found.name else {}
        return common.record(policy, display.named(
            display.policy_fields(policy), names, 'id'))


class SetPcloudPolicy(common.PcloudCommand):
    """Set the policy for the servers of a scope

    The given parts take the place of the former parts; the rest of the policy
    stays. Constraints and customer keys of your project and of its Pclouds
    are yours to set; system keys and all other scopes are for admins.
    """

    _epilog = ('Example:\n  openstack pcloud policy set pcloud render-farm '
               '--customer-key Repel1=1:-100')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the scope, the constraints and the keys."""
        _add_scope_arguments(parser)
        parser.add_argument(
            '--constraints', metavar='<constraints>',
            help='Machine constraints, such as "ram=2G rack=r1", '
                 '"resource:VGPU=1", "trait:CUSTOM_OLD=forbidden" or '
                 '"hardware_class>=3"')
        parser.add_argument(
            '--system-key', metavar=f'<{_KEY}>', dest='system_keys',
            action='append',
            help='System placement key (repeat for several)')
        parser.add_argument(
            '--customer-key', metavar=f'<{_KEY}>', dest='customer_keys',
            action='append',
            help='Customer placement key (repeat for several)')
        parser.add_argument(
            '--share', metavar='<number>', type=float,
            help='How many units a project has before others come first in '
                 'waiting lists, for one of others (admin only)')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Set the given parts."""
        changes = common.require_changes(
            {'constraints': parsed_args.constraints,
             'system_keys': parsed_args.system_keys,
             'customer_keys': parsed_args.customer_keys,
             'share': parsed_args.share},
            '--constraints, --system-key, --customer-key and --share')
        self.client.update_policy(
            parsed_args.scope, _find(self, parsed_args).id, **changes)


class UnsetPcloudPolicy(common.PcloudCommand):
    """Remove the policy for the servers of a scope, or parts of the policy

    Without options, the whole policy is removed, with the default Pcloud that
    the scope has set (admin only).
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
        parser.add_argument('--share', action='store_true',
                            help='Only the share of the project')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Remove the parts, or the whole policy."""
        scope = parsed_args.scope
        scope_id = _find_even_deleted(self, parsed_args).id
        parts = {name: none for name, none in _NONE.items()
                 if getattr(parsed_args, name)}
        if parts:
            self.client.update_policy(scope, scope_id, **parts)
            return
        try:
            self.client.delete_policy(scope, scope_id)
        except exceptions.Forbidden as error:
            raise exceptions.Forbidden(
                f'{error.message} Only admins remove a whole policy; '
                '--constraints and --customer-keys remove what is yours.',
                error.status, error.request_id) from error


def _add_scope_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'scope', metavar='<scope>', choices=_SCOPES,
        help=f'One of {", ".join(_SCOPES)}')
    parser.add_argument(
        'id', metavar='<id>', nargs='?',
        help='Domain, project or Pcloud (name or id), or name of the role; '
             'none for the cloud. The id of a domain or project where '
             'Keystone does not let you look names up')
    parser.add_argument(
        '--project-domain', metavar='<project-domain>',
        help='Domain of the project (name or id), where several projects '
             'have the name')


@dataclasses.dataclass(frozen=True)
class _Scoped:
    """What a policy is for.

    :ivar name: the name for people, None where there is none or where it is
        not known
    """

    id: str
    name: str | None = None


def _find(command: common.PcloudCommand,
          parsed_args: argparse.Namespace) -> _Scoped:
    """Return what the arguments name.

    :raises osc_lib.exceptions.CommandError: when the arguments do not name
        exactly one
    """
    scope, name_or_id = parsed_args.scope, parsed_args.id
    _check_arguments(scope, name_or_id)
    if scope == 'pcloud':
        pcloud = command.client.find_pcloud(name_or_id)
        return _Scoped(pcloud.id, pcloud.name)
    if scope not in ('domain', 'project'):
        return _Scoped(name_or_id or _DEFAULT)
    keystone = command.app.client_manager
    found = (projects.find_domain(keystone, name_or_id)
             if scope == 'domain' else projects.find_project(
                 keystone, name_or_id, parsed_args.project_domain))
    # Without an answer of Keystone the text is both.
    return _Scoped(found.id, found.name if found.name != found.id else None)


def _find_even_deleted(command: common.PcloudCommand,
                       parsed_args: argparse.Namespace) -> _Scoped:
    """Return what the arguments name, also what Keystone has deleted."""
    try:
        return _find(command, parsed_args)
    except osc_exceptions.CommandError:
        if parsed_args.scope not in ('domain', 'project') or (
                parsed_args.id is None):
            raise
        return _Scoped(parsed_args.id)


def _check_arguments(scope: str, name_or_id: str | None) -> None:
    if scope == 'cloud' and name_or_id not in (None, _DEFAULT):
        raise osc_exceptions.CommandError(
            f"The cloud has one policy; leave '{name_or_id}' out, or name "
            f"another scope")
    if scope != 'cloud' and not name_or_id:
        raise osc_exceptions.CommandError(
            f'Which {_WORDS[scope]}? A policy of scope {scope} takes its '
            f'{"name" if scope == "role" else "name or id"}; only scope '
            f'cloud goes without')
