# SPDX-License-Identifier: Apache-2.0

"""Reasons that the API explains: for people in words, for programs as codes.

Every reason has a code, and params: the values that stand in its words. The
words follow from code and params alone, so a program can say the same in
another language, and decide by the code.

Rule: reference-reasons
"""

from collections.abc import Callable
from collections.abc import Mapping
import datetime
import typing

from pcloud import text as texts

# A value that stands in the words of a reason.
Param = str | int | None

# What no plan knows of the servers of a flavor -> what is said of the flavor.
DOUBTS: Mapping[str, str] = {
    'colocation': 'has a rule of co-location',
    'placement_keys': 'has placement keys',
    'numa_cells': 'asks for NUMA cells',
    'pci_devices': 'asks for PCI devices',
    'groups': 'asks for resources in groups',
    'tied_groups': 'asks for resources in groups that are tied',
    'too_many_groups': 'asks for resources in too many groups',
    'accelerators': 'asks for accelerators',
}


class Reason(str):
    """A reason: its words, which may be used as any text, and its code.

    :ivar code: a code of `WORDS`
    :ivar params: ``name -> value``
    """

    code: str
    params: dict[str, Param]

    def __new__(cls, code: str, /, **params: Param) -> typing.Self:
        """Make a reason of a code and exactly the params of the code."""
        words = WORDS[code]
        made = super().__new__(cls, words.format(**params) if isinstance(
            words, str) else words(**params))
        made.code, made.params = code, params
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Param]]:
        """Return what a copy is made of."""
        return (self.code,), self.params


def of(words: object) -> Reason:
    """Return the reason of words that may come from elsewhere.

    What Nova and the filters of operators say has no code of its own.
    """
    return words if isinstance(words, Reason) else Reason(
        'in_words', reason=str(words))


def _too_little(resource: str, left: int, needed: int) -> str:
    return (f'{texts.amount(left, resource)} '
            f'{"is" if left == 1 else "are"} left, '
            f'{texts.counted(needed, "is", "are")} needed')


def _flavor_not_allowed(flavor: str, allowed: str, more: int) -> str:
    return (f"its owner does not allow flavor '{flavor}' there, but "
            f"{_some(allowed, more, 'flavor')}")


def _image_not_allowed(image: str, allowed: str, more: int) -> str:
    return (f"its owner does not allow image '{image}' there, but "
            f"{_some(allowed, more, 'image')}")


def _volume_not_allowed(allowed: str, more: int) -> str:
    return ('its owner does not allow a volume of which Nova does not know '
            f"the image there, but {_some(allowed, more, 'image')}")


def _some(allowed: str, more: int, what: str) -> str:
    if not allowed:
        return f'no {what} at all'
    return f'only {allowed}' + (f' and {more} more' if more else '')


def _no_worker(since: str | None) -> str:
    when = f' since {since}' if since else ''
    return (f'no worker has looked{when}, so nothing is done until the '
            'operator starts one (pcloud-manage work)')


def _no_room(needed: str) -> str:
    amounts = f' ({needed})' if needed else ''
    return ('no other enabled host of the Pcloud has capacity for it'
            f'{amounts}; enable or add a host')


def _flavor_unplanned(flavor: str | None, doubt: str) -> str:
    called = ('a flavor of another tenant' if flavor is None else
              f'flavor {flavor}')
    return f'{called} {DOUBTS[doubt]}'


def _its_flavor_unplanned(doubt: str) -> str:
    return f'its flavor {DOUBTS[doubt]}'


def _servers(after: str) -> Callable[[int], str]:
    def words(servers: int) -> str:
        has = texts.counted(servers, 'server has', 'servers have')
        return f'{has} {after}'
    return words


def _servers_unknown(servers: int) -> str:
    return (f'{texts.counted(servers, "server", "servers")} of which no plan '
            'knows what they need')


def _no_host_up(beside: str | None) -> str:
    where = f" with '{beside}'" if beside else ''
    return f'there is no host{where} that is up and enabled'


def _no_more_groups(hosts: int | None, needed: str) -> str:
    which = ('no host' if hosts is None else
             'not even the only host that would do' if hosts == 1 else
             f'none of the {hosts} hosts that would do')
    return f'{which} has more capacity for {needed} together'


def _server_stays(server: str, why: str, **params: Param) -> str:
    """Return the words of a server with a reason of its own to stay.

    :param why: the code of that reason
    :param params: the params of that reason
    """
    return f'server {server}: {Reason(why, **params)}'


# Code -> words with the names of params, or a function of the params where
# words depend on numbers.
WORDS: Mapping[str, str | Callable[..., str]] = {
    'in_words': '{reason}',

    # Who may be placed on a host.
    'pcloud_unknown':
        'it does not exist, or the project is not one of its tenants',
    'inconsistent':
        'what the cloud knows of it does not fit together; ask its operator',
    'is_tenant': 'the project is one of its tenants',
    'host_not_in_pcloud': 'the host is not in the Pcloud',
    'host_not_named':
        'the server is for another host of the Pcloud, which it names',
    'host_shared': 'the host is in more than one Pcloud',
    'host_stateless': 'the host has no state in the Pcloud',
    'host_due':
        'the host is closed until Placement has been told of a change',
    'host_leaving':
        'the host has joined for a maintenance that is over, and leaves the '
        'Pcloud when it is empty',
    'host_disabled': 'the host is disabled in the Pcloud',
    'host_unopened':
        'the state of the host was written by other means than Pcloud\'s; '
        'enable the host',
    'host_enabled': 'the host is enabled in the Pcloud',
    'host_kept': 'the host is kept for Pclouds',
    'host_public': 'the host is open to everybody',

    # Why a Pcloud or a host takes no server.
    'owner_not_a_tenant':
        'the project that owns it is not one of its tenants',
    'flavor_not_allowed': _flavor_not_allowed,
    'image_not_allowed': _image_not_allowed,
    'volume_not_allowed': _volume_not_allowed,
    'cap_exceeded':
        'its owner caps what the project uses there: {resource}: requested '
        '{asked}, but already used {used} of {cap}',
    'cap_unreadable':
        'how much the project may use there cannot be read; ask its owner to '
        'set that anew',
    'use_unknown':
        'how much the project uses there, which its owner caps, is not known '
        'while a part of the cloud does not answer; try again later',
    'host_down': 'it is down',
    'host_in_maintenance': 'the operator has it in maintenance',
    'too_little': _too_little,
    'trait_missing': 'it has not trait {trait}',
    'trait_forbidden': 'it has trait {trait}',
    'parts_too_small':
        'what is left of it is in parts (providers, NUMA cells or PCI '
        'devices) that are too small',
    'host_too_small':
        'it is too small for one server of this size, however much of it is '
        'left',
    'filter_silent': 'its reason is not known',
    'filter_failed': 'the filter failed',
    'memory_kept_free':
        'its free memory is not more than the {memory_mb} MiB of the server '
        'and the {kept_mb} MiB that stay free',
    'rebooted_soon': 'it is rebooted within {days} days',
    'constraints_unmet':
        'it does not meet the machine constraints {constraints}',
    'keys_keep_away':
        'the placement keys of administrators keep the server away from it',
    'group_is_there': 'servers of the group are there, or may be soon',

    # Why a server stays on its host.
    'soft_deleted':
        'it is deleted, and can be restored until Nova reclaims it; restore '
        'it, or delete it by force',
    'error': 'it is in error; reset its state, or delete it',
    'resize_not_confirmed':
        'it has been resized or migrated, which is not confirmed yet; '
        'confirm or revert that',
    'migration': 'a migration of it is under way',
    'migration_of_host': 'a migration from or to its host is not over',
    'task': 'it is busy ({task})',
    'shelved':
        'it is shelved and keeps its place here; unshelve, offload or delete '
        'it',
    'locked': 'it is locked; unlock it',
    'state_not_migratable': 'no server can be moved while it is {state}',
    'stopped': 'it is stopped, and the drain moves running servers alone',
    'power_not_migratable':
        'its power state is {power_state}, and Nova migrates running and '
        'paused servers alone; reboot it hard',
    'request_unknown': 'Nova does not know what it was started with',
    'flavor_unusable': 'its flavor cannot be used any more',
    'host_down_no_moves':
        'its host is down, and Nova moves no server from such a host',
    'not_for_pcloud':
        'it was not started for the Pcloud, so Nova would move it out of the '
        'Pcloud',
    'not_a_tenant':
        'its project is not one of the tenants of the Pcloud any more',
    'pinned':
        'it was started for one host alone (pcloud_host), so Nova finds no '
        'other host',
    'no_room': _no_room,
    'moved_often':
        'it was moved twice within an hour, and stays until {until}',
    'migration_failed':
        'its latest migration has failed; it is tried again after {until}',
    'hosts_refuse':
        'there is capacity, but no other host of the Pcloud can take it over '
        'while it runs (disks on its host that cannot be copied, or another '
        'processor); it is tried again after {until}',
    'nova_found_no_host':
        'there is capacity, but the scheduler has found no other host of the '
        'Pcloud that is right for it (constraints, locality, placement keys, '
        'server group, co-location); it is tried again after {until}',
    'no_worker': _no_worker,
    'no_replacement':
        'No free host of host flavor {host_flavor} in zone {zone} could '
        'replace the host; its servers are moved to the other hosts of the '
        'Pcloud, as far as there is room.',

    # Why a server stays on a host that has failed.
    'local_disk':
        'a disk of it is on the host that has failed, and would be made anew '
        'from its image, without its data; bring the host back, or delete it',
    'nova_evacuates_none':
        'Nova starts no server with {what} on another host; bring its host '
        'back, or delete it',

    # Why no plan moves a server, or takes it again.
    'drained': 'its host is drained, which moves it or not',
    'its_host_down': 'its host is down',
    'hint_ties': 'its hint {hint} ties it to hosts',
    'unknown_hint_ties': 'its hint that is not known ties it to hosts',
    'sticky_keys': 'it keeps placement keys of a host',
    'near_or_far':
        'another server of the Pcloud has to be near it, or far from it',
    'nova_finds_no_host': 'Nova finds no host right for it',
    'some_aggregates': 'only some aggregates are for it',
    'its_flavor_unplanned': _its_flavor_unplanned,
    'other_kinds_first':
        'servers of {kinds} other kinds are more, and are looked at first',
    'not_allowed':
        'the Pcloud does not take its flavor or image any more',
    'pinned_to_its_host':
        'it was started for its host alone (pcloud_host), so Nova finds no '
        'other host',
    'not_for_pcloud_again':
        'it was not started for the Pcloud, so Nova would place it outside',

    # What no plan knows.
    'filter_unexplained': '{filter} gives no reason',
    'filter_unasked': '{filter} cannot be asked',
    'filter_counts': '{filter} may count servers',
    'several_aggregates': 'flavors are for different aggregates',
    'flavor_unplanned': _flavor_unplanned,
    'kinds_unplanned': 'servers of more than {kinds} kinds',
    'servers_unknown': _servers_unknown,
    'servers_with_hints':
        _servers('scheduler hints, which may keep hosts away'),
    'servers_with_devices': _servers('PCI devices of ports'),
    'servers_with_sticky_keys': _servers('placement keys of a host'),
    'shared_provider':
        '{resource} may come from a provider that hosts share',
    'several_providers': 'several providers of a host have {resource}',
    'pci_exclusion':
        'which functions and whole devices of PCI exclude each other',
    'cell_silent':
        'the part of the cloud with host {host} does not answer',
    'rack_unknown': 'the rack of host {host} is not known',
    'more_somewhere': 'whether more servers fit some hosts',
    'more_than_least': 'whether more servers fit than bounds.least',
    'more_of_resource': 'whether more of {resource} alone is enough',
    'less_of_resource': 'whether less of {resource} is enough',
    'host_flavor_unproven':
        'whether host flavor {host_flavor} adds capacity',
    'host_flavor_taken':
        'whether hosts of host flavor {host_flavor} take the servers, and '
        'whether fewer are enough, for none is free now',
    'fewer_hosts':
        'whether fewer hosts of host flavor {host_flavor} are enough',
    'servers_one_by_one':
        'whether all servers for which there is capacity find it, for Nova '
        'places one after the other',
    'zones_of_new_hosts':
        'whether new hosts are in the zones that servers were started for',
    'racks_of_failing_hosts':
        'whether as many hosts are enough should hosts whose rack is not '
        'known fail too',

    # Why no more servers fit together.
    'no_host_up': _no_host_up,
    'no_more_groups': _no_more_groups,

    # Why a rebalance has ended before its end.
    'ended_on_request': 'it was ended on request',
    'rows_unreadable': 'what is kept of it cannot be read',
    'host_left': 'a host has left the Pcloud',
    'host_takes_none': 'host {host} takes no servers, or is drained',
    'nova_refuses_move': 'server {server}: Nova refuses to move it',
    'host_without_capacity':
        'host {host} has no capacity for server {server}',
    'server_left': 'server {server}: it is not in the Pcloud any more',
    'server_elsewhere': 'server {server}: it is on another host by now',
    'move_failed': 'server {server}: its migration has failed',
    'server_stays': _server_stays,
}


def moment(seconds: float) -> str:
    """Return a moment as a param.

    :param seconds: since the epoch
    """
    return datetime.datetime.fromtimestamp(
        seconds, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
