# SPDX-License-Identifier: Apache-2.0

"""What the tab with the settings of a Pcloud says."""

from collections.abc import Mapping
import dataclasses

from django.utils.translation import gettext as _

from pcloud.client import resources


@dataclasses.dataclass(frozen=True)
class Default:
    """Where servers of the user's project go that name no Pcloud.

    :ivar is_here: whether they go to the Pcloud of the page
    :ivar text: the same in words
    :ivar source: where that is set, in words; None where nothing is set
    :ivar can_be_unset: whether the project itself has set it
    """

    is_here: bool
    text: str
    source: str | None
    can_be_unset: bool


def default(value: resources.DefaultPcloud, pcloud: resources.Pcloud,
            names: Mapping[str, str]) -> Default:
    """Return the words for a default Pcloud on the page of a Pcloud.

    :param names: the names of the Pclouds that the project sees, by id
    """
    is_here = value.pcloud == pcloud.id
    return Default(
        is_here, _here(value) if is_here else _elsewhere(value, names),
        source(value.source), value.source == 'project')


def source(scope: str | None) -> str | None:
    """Return in words where a default is set; None for nowhere."""
    return {'project': _('set for the project'),
            'domain': _('set for the domain'),
            'cloud': _('set for the cloud')}.get(scope or '')


def level(source: str) -> str:
    """Return in words where a requirement is from."""
    kind, _blank, name = source.partition(' ')
    if kind == 'role':
        return _('role %s') % name
    return {'request': _('the instance'), 'pcloud': _('the Pcloud'),
            'project': _('the project'), 'domain': _('the domain'),
            'cloud': _('the cloud'), 'built-in': _('always so')
            }.get(source, source)


def _elsewhere(value: resources.DefaultPcloud,
               names: Mapping[str, str]) -> str:
    if value.pcloud is None:
        return _('Instances that name no Pcloud start outside of Pclouds.')
    if value.pcloud not in names:
        return _('Instances that name no Pcloud start in a Pcloud that your '
                 'project cannot see.')
    return _('Instances that name no Pcloud start in another Pcloud: '
             '%s.') % names[value.pcloud]


def _here(value: resources.DefaultPcloud) -> str:
    if value.mode == 'prefer':
        return _('Instances that name no Pcloud start here while there is '
                 'capacity, and else outside.')
    if value.mode == 'grow':
        return _('Instances that name no Pcloud start here; while there is '
                 'no capacity, hosts of host flavor %(flavor)s are added, up '
                 'to %(most)s hosts.') % {
                     'flavor': value.host_flavor, 'most': value.max_hosts}
    return _('Instances that name no Pcloud start here.')
