# SPDX-License-Identifier: Apache-2.0

"""How a host of a Pcloud is shown."""

from collections.abc import Mapping

from pcloud.api.schemas import shown as answers
from pcloud.api.views import blockers
from pcloud.api.views import maintenance
from pcloud.api.views import reasons
from pcloud.api.views import times
from pcloud.objects import hosts
from pcloud.rules import coded
from pcloud.rules.moving import draining
from pcloud.rules.moving import recovery

_OCCUPIED = {'remaining': answers.or_null(answers.list_of(answers.UUID)),
             'blockers': answers.or_null(blockers.ALL)}
_MOVE = {'type': 'string', 'enum': [*draining.MOVES]}

HOST = answers.members({
    'name': answers.TEXT,
    'host_flavor': answers.TEXT_OR_NULL,
    'availability_zone': answers.TEXT_OR_NULL,
    # Without a row of its own a host has no state, and takes no servers.
    'state': answers.TEXT_OR_NULL,
    'status': answers.TEXT,
    'instances': answers.or_null(answers.list_of(answers.UUID)),
    'vcpus': answers.COUNT_OR_NULL,
    'vcpus_used': answers.COUNT_OR_NULL,
    'memory_mb': answers.COUNT_OR_NULL,
    'memory_mb_used': answers.COUNT_OR_NULL,
    'next_reboot': answers.MOMENT_OR_NULL,
    'rack': answers.COUNT_OR_NULL,
}, {
    'drain': answers.members({
        'since': answers.MOMENT, 'deadline': answers.MOMENT_OR_NULL,
        'move': _MOVE, 'release': answers.FLAG, **_OCCUPIED,
    }, {'moves': answers.list_of(answers.members({
        'server': answers.UUID, 'host': answers.TEXT}))}),
    'recovery': answers.members({
        'state': answers.TEXT, 'since': answers.MOMENT, **_OCCUPIED,
    }, {'replacement': answers.TEXT}),
    'until': answers.MOMENT,
    'move': _MOVE,
    'maintenance': answers.members(maintenance.MEMBERS, {
        **maintenance.REASON, 'replacement': answers.TEXT,
        **reasons.members('problem')}),
    'resources': answers.or_null(answers.map_of(answers.members({
        'total': answers.COUNT, 'used': answers.COUNT}))),
    'traits': answers.or_null(answers.list_of(answers.TEXT)),
    'hypervisor_hostname': answers.TEXT_OR_NULL,
    'rack_name': answers.TEXT_OR_NULL,
})


def show(host: hosts.Host) -> dict:
    """Return a host for the owner, without the host's real name.

    The sizes and the servers are None while the host's cell does not answer.
    Only a host that is drained has a member 'drain', only a host that has
    failed a member 'recovery', and only a host with an announced maintenance
    a member 'maintenance'.
    """
    node = host.node
    shown: dict = {'name': host.name,
                   'host_flavor': host.host_flavor,
                   'availability_zone': host.compute.zone,
                   'state': host.shown_state,
                   'status': host.status,
                   'instances': (None if host.instances is None
                                 else list(host.instances)),
                   'vcpus': node.vcpus,
                   'vcpus_used': node.vcpus_used,
                   'memory_mb': node.memory_mb,
                   'memory_mb_used': node.memory_mb_used,
                   'next_reboot': times.shown(host.next_reboot),
                   'rack': host.rack}
    if host.drain is not None:
        shown['drain'] = _drain(host, host.drain)
    if host.recovery is not None:
        shown['recovery'] = _recovery(host, host.recovery)
    if host.until is not None:
        shown['until'] = times.shown_seconds(host.until.at)
        shown['move'] = host.until.move
    if host.maintenance is not None:
        shown['maintenance'] = {
            **maintenance.show(host.maintenance), **_reaction(host)}
    return shown


def with_resources(shown: dict, host: hosts.Host) -> dict:
    """Add what a host is, null while unknown."""
    its = host.resources
    if its is None:
        return {**shown, 'resources': None, 'traits': None}
    return {**shown, 'vcpus': its.cpus,
            'resources': {name: {'total': total, 'used': its.used[name]}
                          for name, total in sorted(its.total.items())},
            'traits': sorted(its.traits)}


def with_rack_name(shown: dict, host: hosts.Host) -> dict:
    """Add the rack's own name, null while unknown."""
    return {**shown, 'rack_name': host.rack_name}


def _reaction(host: hosts.Host) -> dict:
    """Return what the Pcloud has done for a maintenance, if anything.

    'replacement' is the owner's name for the host that stands in for the host,
    'problem' why there is none although the Pcloud wants one.
    """
    if host.replacement is not None:
        return {'replacement': host.replacement}
    if host.reaction is None or not host.reaction.failed:
        return {}
    return reasons.show('problem', coded.Reason(
        'no_replacement', host_flavor=host.host_flavor,
        zone=host.compute.zone))


def _drain(host: hosts.Host, drain: draining.Drain) -> dict:
    return {'since': times.shown_seconds(drain.since),
            'deadline': times.shown_seconds(drain.deadline),
            'move': drain.move,
            'release': drain.release,
            **_occupied(host)}


def _recovery(host: hosts.Host, kept: recovery.Recovery) -> dict:
    joined = {} if host.recovered_by is None else {
        'replacement': host.recovered_by}
    return {'state': kept.state, 'since': times.shown_seconds(kept.since),
            **joined, **_occupied(host)}


def _occupied(host: hosts.Host) -> dict:
    """Return what is left on a host, and why; null while unknown."""
    return {'remaining': (None if host.occupied is None
                          else list(host.occupied.servers)),
            'blockers': (None if host.occupied is None
                         else blockers.show(host.occupied.blockers))}


def tried(shown: dict, places: Mapping[str, str]) -> dict:
    """Add to a host what its drain would move, and where to.

    :param shown: the host as it would be shown
    :param places: ``server uuid -> owner's name`` of a host with room
    """
    return {**shown, 'drain': {**shown['drain'], 'moves': [
        {'server': server, 'host': name}
        for server, name in places.items()]}}


def without_reason(shown: dict) -> dict:
    """Leave out why a host is going to be in maintenance."""
    if 'maintenance' not in shown:
        return shown
    return {**shown, 'maintenance': {
        member: value for member, value in shown['maintenance'].items()
        if member != 'reason'}}


def detail(host: hosts.Host) -> dict:
    """Return a host with the host's real name, for administrators."""
    return {**show(host),
            'hypervisor_hostname': host.node.hypervisor_hostname}
