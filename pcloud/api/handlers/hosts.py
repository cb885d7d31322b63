# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/hosts``."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import re

from oslo_config import cfg
from oslo_utils import timeutils

from pcloud.api import call as api_call
from pcloud.api import constraint_levels
from pcloud.api.policies import hosts as policies
from pcloud.api.policies import pclouds as pcloud_policies
from pcloud.api.views import hosts as views
from pcloud.api.views import waiting as waiting_views
from pcloud.api import wishes
from pcloud.backend.aggregates import inherited_metadata
from pcloud import exception
from pcloud.moving import drains
from pcloud.moving import forecast
from pcloud.objects.changing_hands import allocation
from pcloud.objects.changing_hands import host_removal
from pcloud.objects.changing_hands import waiting_entries
from pcloud.objects import host_states
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.objects.placing import machine_constraints
from pcloud.rules import forms
from pcloud.rules.moving import dates
from pcloud.rules.moving import draining
from pcloud.rules.placing import constraints
from pcloud.rules import waiting

CONF = cfg.CONF


def _view(call: api_call.Call) -> Callable[[hosts.Host], dict]:
    view = views.detail if call.manages_all else views.show
    names_racks = call.can(pcloud_policies.RACK_NAMES)
    tells_reason = call.can(policies.REASON)

    def shown(host: hosts.Host) -> dict:
        found = view(host)
        if names_racks:
            found = views.with_rack_name(found, host)
        return found if tells_reason else views.without_reason(found)

    return shown


def index(call: api_call.Call) -> dict:
    """List the hosts of a Pcloud."""
    pcloud = api_call.own_pcloud(call)
    return {'hosts': _shown(call, pcloud, hosts.index(call.context, pcloud))}


def _shown(
    call: api_call.Call, pcloud: pclouds.Head, there: Sequence[hosts.Host],
) -> list[dict]:
    """Return hosts with all that can be read of hosts."""
    view = _view(call)
    whole = hosts.with_resources(call.context, pcloud, forecast.complete(
        call.context, pcloud, there))
    return [views.with_resources(view(host), host) for host in whole]


def show(call: api_call.Call) -> dict:
    """Show a host of a Pcloud."""
    pcloud = api_call.own_head(call)
    host, = _shown(call, pcloud, [
        hosts.show(call.context, pcloud, call.parameters['name'])])
    return {'host': host}


def add(call: api_call.Call) -> dict | api_call.Answer:
    """Add free hosts to a Pcloud, by host flavor or by constraints.

    :returns: the hosts; an answer with the place of an entry where the Pcloud
        waits for a host
    :raises: `exception.Invalid` unless the body has either a host flavor
        or constraints, and names that hosts can have,
        `exception.NotFound` for an unknown zone, and as
        `machine_constraints.check_attributes` and `_until`
    """
    wanted, zone = _names(call.body), call.body.get('availability_zone')
    if ('host_flavor' in call.body) == ('constraints' in call.body):
        raise exception.Invalid(
            'Invalid input for field/attribute host. Name either a '
            'host_flavor or constraints.')
    until = _until(call.body) if 'wait_until' in call.body else None
    pcloud = api_call.own_head(call)
    leaving = _leaving(call, pcloud, until)
    if zone is not None:
        inherited_metadata.check_zone(call.context, zone)
    if until is not None:
        return _add_or_wait(call, pcloud, zone, until, leaving)
    if 'host_flavor' in call.body:
        added = allocation.add(
            call.context, pcloud, wanted, call.body['host_flavor'], zone,
            until=leaving)
    else:
        added = allocation.add_fitting(
            call.context, pcloud, wanted, _constraints(call, pcloud), zone,
            leaving)
    shown_hosts = list(map(_view(call), added))
    return ({'hosts': shown_hosts} if 'count' in call.body
            else {'host': shown_hosts[0]})


def _until(body: Mapping) -> int:
    """Return until when a Pcloud waits for a host, in seconds.

    :raises: `exception.InvalidValue`, `exception.Invalid` where several hosts
        are asked for, or a host by constraints
    """
    if 'count' in body or 'constraints' in body:
        raise exception.Invalid(
            'Invalid input for field/attribute wait_until. One can wait for '
            'one host of a host flavor: give neither count nor constraints.')
    return waiting.until(body['wait_until'], timeutils.utcnow_ts(),
                         CONF.pcloud.wait_limit)


def _leaving(
    call: api_call.Call, pcloud: pclouds.Head, waits: int | None,
) -> dates.Until | None:
    """Return when hosts are to leave again, None for no date.

    :param waits: until when the Pcloud waits, None for no waiting
    :raises: `exception.InvalidValue`, `exception.Invalid` for a move without a
        date and for a date before the end of the waiting,
        `exception.PolicyForbids` as for a drain with release

    Rule: reference-waiting-dates
    """
    if call.body.get('until') is None:
        if 'move' in call.body:
            raise exception.Invalid(
                'Invalid input for field/attribute move. It is for the end of '
                'a host: give until too.')
        return None
    leaving = dates.until(
        call.body['until'], call.body.get('move', draining.NONE),
        timeutils.utcnow_ts())
    if waits is not None and leaving.at <= waits:
        raise exception.Invalid(
            'Invalid input for field/attribute until. It has to be later than '
            'wait_until.')
    wishes.check(call, pcloud.owner, wishes.of_drain(
        drains.wish(leaving.move, True, None)))
    return leaving


def _add_or_wait(
    call: api_call.Call, pcloud: pclouds.Head, zone: str | None, until: int,
    leaving: dates.Until | None,
) -> dict | api_call.Answer:
    """Add a host, or have the Pcloud wait for the host.

    Rule: reference-waiting-calls
    """
    name, flavor_id = call.body['name'], call.body['host_flavor']
    try:
        host, = allocation.add(
            call.context, pcloud, [name], flavor_id, zone, until=leaving)
    except waiting_entries.PASSING:
        return api_call.Answer(202, {'waiting': waiting_views.show(
            waiting_entries.begin(
                call.context, pcloud, name, flavor_id, zone, until,
                leaving))})
    return {'host': _view(call)(host)}


def _names(body: Mapping) -> list[str]:
    """Return the names of the hosts that a body asks for.

    :raises: `exception.Invalid` for names that are too long with their
        numbers, and for the number of a single host
    """
    if 'count' not in body:
        if 'first' in body:
            raise exception.Invalid(
                'Invalid input for field/attribute host. The number '
                'first is for several hosts: give a count too.')
        return [body['name']]
    wanted = forms.numbered(
        body['name'], body['count'], body.get('first', 1))
    if not re.fullmatch(forms.HOST_NAME, wanted[-1]):
        raise exception.Invalid(
            'Invalid input for field/attribute name. With a number '
            f'the name {wanted[-1]} is longer than 63 characters.')
    return wanted


def _constraints(
    call: api_call.Call, pcloud: pclouds.Head,
) -> dict[str, constraints.Setting]:
    wanted = constraint_levels.read(call.body['constraints'], call.can)
    machine_constraints.check_attributes(call.context, wanted)
    return machine_constraints.effective(
        wanted, constraint_levels.levels_of_pcloud(call.context, pcloud))


def update(call: api_call.Call) -> dict:
    """Change the state of a host of a Pcloud, or the date at which it leaves.

    :raises: `exception.Invalid` for a drain with another state, for a date
        beside a state, and for neither; and as `_leaving`
    """
    state, name = call.body.get('state'), call.parameters['name']
    if (state is None) == ('until' not in call.body):
        raise exception.Invalid(
            'Invalid input for field/attribute host. Give either a state, or '
            'until.')
    if 'drain' in call.body and state != draining.DRAINING:
        raise exception.Invalid(
            'Invalid input for field/attribute host. Only with the '
            'state draining there is a drain.')
    pcloud = api_call.own_head(call)
    if state is None or 'move' in call.body:
        leaving = _leaving(call, pcloud, None)
        return {'host': _view(call)(host_states.set_until(
            call.context, pcloud, name, leaving))}
    if state == draining.DRAINING:
        return {'host': _drain(call, pcloud, name)}
    return {'host': _view(call)(host_states.set_state(
        call.context, pcloud, name, state))}


def _drain(call: api_call.Call, pcloud: pclouds.Head, name: str) -> dict:
    """Drain a host, or tell what the drain would do.

    :raises: `exception.PolicyForbids` for a drain that does more than the
        caller may do
    """
    body = call.body.get('drain', {})
    wish = drains.wish(body.get('move', draining.NONE),
                       body.get('release', False), body.get('deadline'))
    wishes.check(call, pcloud.owner, wishes.of_drain(wish))
    if body.get('dry_run'):
        trial = forecast.trial(call.context, pcloud, name, wish,
                               body.get('together_with', ()))
        return views.tried(_view(call)(trial.host), trial.places)
    # The answer is read before the change, as `host_states.drain` has it.
    trial = forecast.trial(call.context, pcloud, name, wish)
    host_states.drain(call.context, pcloud, name, wish)
    return _view(call)(trial.host)


def remove(call: api_call.Call) -> None:
    """Remove a host from a Pcloud."""
    host_removal.remove(
        call.context, api_call.own_head(call), call.parameters['name'])
