# SPDX-License-Identifier: Apache-2.0

"""Reasons that the API explains, in the language of the user.

The API sends a code and its params beside the words, which are English. The
words here are the same, and have translations. A code that is not here is
shown in the words of the API, so an older dashboard shows newer reasons.
"""

from collections.abc import Callable
from collections.abc import Mapping
import typing

from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from pcloud_dashboard.words import refusals

_Params = Mapping[str, typing.Any]


def amount(number: int, resource: str) -> str:
    """Return an amount of a resource class in words."""
    if resource == 'MEMORY_MB':
        return gettext('%s MiB of memory') % number
    if resource == 'DISK_GB':
        return gettext('%s GiB of disk') % number
    if resource == 'VCPU':
        return ngettext('%s vCPU', '%s vCPUs', number) % number
    return f'{number} {refusals.resource(resource)}'


def _too_little(params: _Params) -> str:
    resource = params['resource']
    return gettext('%(left)s left, %(needed)s needed') % {
        'left': amount(params['left'], resource),
        'needed': amount(params['needed'], resource)}


def _only(params: _Params) -> str:
    if not params['allowed']:
        return gettext('nothing at all')
    if not params['more']:
        return str(params['allowed'])
    return gettext('%(allowed)s and %(more)s more') % params


def _not_allowed(words: typing.Any) -> Callable[[_Params], str]:
    return lambda params: words % {**params, 'only': _only(params)}


def _no_room(params: _Params) -> str:
    text = gettext('no other enabled host of the Pcloud has capacity for it; '
                   'enable or add a host')
    return f'{text} ({params["needed"]})' if params['needed'] else text


def _no_worker(params: _Params) -> str:
    text = gettext('no worker has looked, so nothing is done until the '
                   'operator starts one')
    return f'{text} ({params["since"]})' if params['since'] else text


def _no_host_up(params: _Params) -> str:
    if not params['beside']:
        return gettext('there is no host that is up and enabled')
    return gettext("there is no host with '%(beside)s' that is up and "
                   'enabled') % params


def _no_more_groups(params: _Params) -> str:
    return gettext('no host has more capacity for %(needed)s together'
                   ) % params


def _doubt(params: _Params) -> str:
    return str(_DOUBTS.get(params['doubt'], params['doubt']))


def _flavor_unplanned(params: _Params) -> str:
    if params['flavor'] is None:
        return gettext('a flavor of another tenant %(doubt)s') % {
            'doubt': _doubt(params)}
    return gettext('flavor %(flavor)s %(doubt)s') % {
        'flavor': params['flavor'], 'doubt': _doubt(params)}


def _its_flavor_unplanned(params: _Params) -> str:
    return gettext('its flavor %s') % _doubt(params)


def _servers_unknown(params: _Params) -> str:
    return ngettext(
        '%(servers)s server of which no plan knows what it needs',
        '%(servers)s servers of which no plan knows what they need',
        params['servers']) % params


def _servers_with_hints(params: _Params) -> str:
    return ngettext(
        '%(servers)s server has scheduler hints, which may keep hosts away',
        '%(servers)s servers have scheduler hints, which may keep hosts away',
        params['servers']) % params


def _servers_with_devices(params: _Params) -> str:
    return ngettext('%(servers)s server has PCI devices of ports',
                    '%(servers)s servers have PCI devices of ports',
                    params['servers']) % params


def _servers_with_sticky_keys(params: _Params) -> str:
    return ngettext('%(servers)s server has placement keys of a host',
                    '%(servers)s servers have placement keys of a host',
                    params['servers']) % params


def _server_stays(params: _Params) -> str:
    return gettext('server %(server)s: %(reason)s') % {
        'server': params['server'],
        'reason': of(params['why'], params, '')}


_DOUBTS = {
    'colocation': _('has a rule of co-location'),
    'placement_keys': _('has placement keys'),
    'numa_cells': _('asks for NUMA cells'),
    'pci_devices': _('asks for PCI devices'),
    'groups': _('asks for resources in groups'),
    'tied_groups': _('asks for resources in groups that are tied'),
    'too_many_groups': _('asks for resources in too many groups'),
    'accelerators': _('asks for accelerators'),
}

# Code -> words with the names of params, or a function of the params.
WORDS: Mapping[str, typing.Any] = {
    'flavor_not_allowed': _not_allowed(_(
        "its owner does not allow flavor '%(flavor)s' there, but only "
        '%(only)s')),
    'image_not_allowed': _not_allowed(_(
        "its owner does not allow image '%(image)s' there, but only "
        '%(only)s')),
    'volume_not_allowed': _not_allowed(_(
        'its owner does not allow a volume of which Nova does not know the '
        'image there, but only %(only)s')),
    'too_little': _too_little,
    'no_room': _no_room,
    'no_worker': _no_worker,
    'its_flavor_unplanned': _its_flavor_unplanned,
    'flavor_unplanned': _flavor_unplanned,
    'servers_unknown': _servers_unknown,
    'servers_with_hints': _servers_with_hints,
    'servers_with_devices': _servers_with_devices,
    'servers_with_sticky_keys': _servers_with_sticky_keys,
    'no_host_up': _no_host_up,
    'no_more_groups': _no_more_groups,
    'server_stays': _server_stays,
    'pcloud_unknown': _(
        'it does not exist, or the project is not one of its '
        'tenants'),
    'inconsistent': _(
        'what the cloud knows of it does not fit together; ask its '
        'operator'),
    'is_tenant': _(
        'the project is one of its tenants'),
    'host_not_in_pcloud': _(
        'the host is not in the Pcloud'),
    'host_not_named': _(
        'the server is for another host of the Pcloud, which it '
        'names'),
    'host_shared': _(
        'the host is in more than one Pcloud'),
    'host_stateless': _(
        'the host has no state in the Pcloud'),
    'host_due': _(
        'the host is closed until Placement has been told of a '
        'change'),
    'host_leaving': _(
        'the host has joined for a maintenance that is over, and '
        'leaves the Pcloud when it is empty'),
    'host_disabled': _(
        'the host is disabled in the Pcloud'),
    'host_unopened': _(
        'the state of the host was written by other means than '
        "Pcloud's; enable the host"),
    'host_enabled': _(
        'the host is enabled in the Pcloud'),
    'host_kept': _(
        'the host is kept for Pclouds'),
    'host_public': _(
        'the host is open to everybody'),
    'owner_not_a_tenant': _(
        'the project that owns it is not one of its tenants'),
    'cap_exceeded': _(
        'its owner caps what the project uses there: %(resource)s: '
        'requested %(asked)s, but already used %(used)s of %(cap)s'),
    'cap_unreadable': _(
        'how much the project may use there cannot be read; ask its'
        ' owner to set that anew'),
    'use_unknown': _(
        'how much the project uses there, which its owner caps, is '
        'not known while a part of the cloud does not answer; try '
        'again later'),
    'host_down': _(
        'it is down'),
    'host_in_maintenance': _(
        'the operator has it in maintenance'),
    'trait_missing': _(
        'it has not trait %(trait)s'),
    'trait_forbidden': _(
        'it has trait %(trait)s'),
    'parts_too_small': _(
        'what is left of it is in parts (providers, NUMA cells or '
        'PCI devices) that are too small'),
    'host_too_small': _(
        'it is too small for one server of this size, however much '
        'of it is left'),
    'filter_silent': _(
        'its reason is not known'),
    'filter_failed': _(
        'the filter failed'),
    'memory_kept_free': _(
        'its free memory is not more than the %(memory_mb)s MiB of '
        'the server and the %(kept_mb)s MiB that stay free'),
    'rebooted_soon': _(
        'it is rebooted within %(days)s days'),
    'constraints_unmet': _(
        'it does not meet the machine constraints %(constraints)s'),
    'keys_keep_away': _(
        'the placement keys of administrators keep the server away '
        'from it'),
    'group_is_there': _(
        'servers of the group are there, or may be soon'),
    'soft_deleted': _(
        'it is deleted, and can be restored until Nova reclaims it;'
        ' restore it, or delete it by force'),
    'error': _(
        'it is in error; reset its state, or delete it'),
    'resize_not_confirmed': _(
        'it has been resized or migrated, which is not confirmed '
        'yet; confirm or revert that'),
    'migration': _(
        'a migration of it is under way'),
    'migration_of_host': _(
        'a migration from or to its host is not over'),
    'task': _(
        'it is busy (%(task)s)'),
    'shelved': _(
        'it is shelved and keeps its place here; unshelve, offload '
        'or delete it'),
    'locked': _(
        'it is locked; unlock it'),
    'state_not_migratable': _(
        'no server can be moved while it is %(state)s'),
    'stopped': _(
        'it is stopped, and the drain moves running servers alone'),
    'power_not_migratable': _(
        'its power state is %(power_state)s, and Nova migrates '
        'running and paused servers alone; reboot it hard'),
    'request_unknown': _(
        'Nova does not know what it was started with'),
    'flavor_unusable': _(
        'its flavor cannot be used any more'),
    'host_down_no_moves': _(
        'its host is down, and Nova moves no server from such a '
        'host'),
    'not_for_pcloud': _(
        'it was not started for the Pcloud, so Nova would move it '
        'out of the Pcloud'),
    'not_a_tenant': _(
        'its project is not one of the tenants of the Pcloud any '
        'more'),
    'pinned': _(
        'it was started for one host alone (pcloud_host), so Nova '
        'finds no other host'),
    'moved_often': _(
        'it was moved twice within an hour, and stays until '
        '%(until)s'),
    'migration_failed': _(
        'its latest migration has failed; it is tried again after '
        '%(until)s'),
    'hosts_refuse': _(
        'there is capacity, but no other host of the Pcloud can '
        'take it over while it runs (disks on its host that cannot '
        'be copied, or another processor); it is tried again after '
        '%(until)s'),
    'nova_found_no_host': _(
        'there is capacity, but the scheduler has found no other '
        'host of the Pcloud that is right for it (constraints, '
        'locality, placement keys, server group, co-location); it '
        'is tried again after %(until)s'),
    'no_replacement': _(
        'No free host of host flavor %(host_flavor)s in zone '
        '%(zone)s could replace the host; its servers are moved to '
        'the other hosts of the Pcloud, as far as there is room.'),
    'local_disk': _(
        'a disk of it is on the host that has failed, and would be '
        'made anew from its image, without its data; bring the host'
        ' back, or delete it'),
    'nova_evacuates_none': _(
        'Nova starts no server with %(what)s on another host; bring'
        ' its host back, or delete it'),
    'drained': _(
        'its host is drained, which moves it or not'),
    'its_host_down': _(
        'its host is down'),
    'hint_ties': _(
        'its hint %(hint)s ties it to hosts'),
    'unknown_hint_ties': _(
        'its hint that is not known ties it to hosts'),
    'sticky_keys': _(
        'it keeps placement keys of a host'),
    'near_or_far': _(
        'another server of the Pcloud has to be near it, or far '
        'from it'),
    'nova_finds_no_host': _(
        'Nova finds no host right for it'),
    'some_aggregates': _(
        'only some aggregates are for it'),
    'other_kinds_first': _(
        'servers of %(kinds)s other kinds are more, and are looked '
        'at first'),
    'not_allowed': _(
        'the Pcloud does not take its flavor or image any more'),
    'pinned_to_its_host': _(
        'it was started for its host alone (pcloud_host), so Nova '
        'finds no other host'),
    'not_for_pcloud_again': _(
        'it was not started for the Pcloud, so Nova would place it '
        'outside'),
    'filter_unexplained': _(
        '%(filter)s gives no reason'),
    'filter_unasked': _(
        '%(filter)s cannot be asked'),
    'filter_counts': _(
        '%(filter)s may count servers'),
    'several_aggregates': _(
        'flavors are for different aggregates'),
    'kinds_unplanned': _(
        'servers of more than %(kinds)s kinds'),
    'shared_provider': _(
        '%(resource)s may come from a provider that hosts share'),
    'several_providers': _(
        'several providers of a host have %(resource)s'),
    'pci_exclusion': _(
        'which functions and whole devices of PCI exclude each '
        'other'),
    'cell_silent': _(
        'the part of the cloud with host %(host)s does not answer'),
    'rack_unknown': _(
        'the rack of host %(host)s is not known'),
    'more_somewhere': _(
        'whether more servers fit some hosts'),
    'more_than_least': _(
        'whether more servers fit than bounds.least'),
    'more_of_resource': _(
        'whether more of %(resource)s alone is enough'),
    'less_of_resource': _(
        'whether less of %(resource)s is enough'),
    'host_flavor_unproven': _(
        'whether host flavor %(host_flavor)s adds capacity'),
    'host_flavor_taken': _(
        'whether hosts of host flavor %(host_flavor)s take the '
        'servers, and whether fewer are enough, for none is free '
        'now'),
    'fewer_hosts': _(
        'whether fewer hosts of host flavor %(host_flavor)s are '
        'enough'),
    'servers_one_by_one': _(
        'whether all servers for which there is capacity find it, for '
        'Nova places one after the other'),
    'zones_of_new_hosts': _(
        'whether new hosts are in the zones that servers were '
        'started for'),
    'racks_of_failing_hosts': _(
        'whether as many hosts are enough should hosts whose rack '
        'is not known fail too'),
    'ended_on_request': _(
        'it was ended on request'),
    'rows_unreadable': _(
        'what is kept of it cannot be read'),
    'host_left': _(
        'a host has left the Pcloud'),
    'host_takes_none': _(
        'host %(host)s takes no servers, or is drained'),
    'nova_refuses_move': _(
        'server %(server)s: Nova refuses to move it'),
    'host_without_capacity': _(
        'host %(host)s has no capacity for server %(server)s'),
    'server_left': _(
        'server %(server)s: it is not in the Pcloud any more'),
    'server_elsewhere': _(
        'server %(server)s: it is on another host by now'),
    'move_failed': _(
        'server %(server)s: its migration has failed'),
}


def of(code: str | None, params: _Params | None, english: str) -> str:
    """Return a reason in the language of the user.

    :param code: None where the API has no code for the reason
    :param english: the words of the API
    """
    language = translation.get_language() or ''
    words = WORDS.get(code or '')
    if words is None or language.partition('-')[0] == 'en' and english:
        return refusals.without_classes(english)
    try:
        if callable(words):
            return words(params or {})
        return str(words) % {
            name: refusals.resource(value) if name in ('resource', 'what')
            else value for name, value in (params or {}).items()}
    except (KeyError, TypeError, ValueError):
        return english


def spoken(reason: typing.Any, member: str = 'reason') -> str:
    """Return a reason of the client in the language of the user.

    :param member: the member with the words of the API
    """
    return of(reason.code, reason.params, getattr(reason, member))


def of_body(body: _Params) -> str:
    """Return a reason in a body of the API, likewise."""
    return of(body.get('code'), body.get('params'), body['reason'])
