# SPDX-License-Identifier: Apache-2.0

"""Bundles: servers of several flavors that are to fit a Pcloud together."""

from collections.abc import Iterable
import dataclasses
import typing

from django import http
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from pcloud_dashboard import shown
from pcloud_dashboard.words import reasons
from pcloud_dashboard.words import refusals

from pcloud.client import plan_resources

# The most flavors of a bundle that the page has fields for.
MOST_FLAVORS = 3
MEMBERS = ('bundle_flavor', 'bundle_count', 'bundle_apart',
           'bundle_disabled', 'bundle_without')


@dataclasses.dataclass(frozen=True)
class Line:
    """A flavor of a bundle, as the user has filled in the line.

    :ivar flavor: the id, '' for an empty line
    :ivar count: how many servers; '' for an empty line
    :ivar apart: whether each server has to be on another host
    """

    flavor: str = ''
    count: str = ''
    apart: bool = False


def lines(query: http.QueryDict) -> list[Line]:
    """Return the lines of the form, empty lines too."""
    found = [Line(flavor, count.strip(), str(number) in query.getlist(
        'bundle_apart')) for number, (flavor, count) in enumerate(zip(
            query.getlist('bundle_flavor'), query.getlist('bundle_count')))]
    return (found + [Line()] * MOST_FLAVORS)[:MOST_FLAVORS]


def hosts(query: http.QueryDict) -> dict[str, typing.Any]:
    """Return which hosts count for a bundle, as the client takes it."""
    return {'include_disabled': 'bundle_disabled' in query,
            'without': query.get('bundle_without', '').split()}


def asked(wanted: Iterable[Line]) -> list[dict[str, typing.Any]]:
    """Return the servers of a bundle, as the API takes them.

    A count that is no number is passed on, so that the API names what is
    wrong.
    """
    return [{'flavor': line.flavor,
             'count': shown.number(line.count),
             **({'apart': True} if line.apart else {})}
            for line in wanted if line.flavor and line.count]


@dataclasses.dataclass(frozen=True)
class BundleFit:
    """What a simulation says of a bundle.

    :ivar placed: host -> its servers in words, in the order of the names
    :ivar missing: what is too small, in words
    :ivar notes: what may be otherwise, in words
    """

    fits: bool
    text: str
    placed: list[tuple[str, str]]
    missing: list[str]
    notes: list[str]


def answer(simulation: plan_resources.Simulation,
           names: dict[str, str]) -> BundleFit:
    """Return a simulation in words.

    :param names: flavor id -> name
    """
    by_host: dict[str, list[str]] = {}
    for each in simulation.placed:
        by_host.setdefault(each.host, []).append(
            f'{each.count} × {names.get(each.flavor, each.flavor)}')
    return BundleFit(
        simulation.fits, _text(simulation),
        [(host, ', '.join(by_host[host]))
         for host in sorted(by_host, key=shown.natural)],
        list(map(_short, simulation.binding)),
        [reasons.spoken(each, 'text')
         for each in simulation.not_explained])


def _text(simulation: plan_resources.Simulation) -> str:
    if simulation.fits:
        return _('The bundle fits.')
    least, most = simulation.bounds['least'], simulation.bounds['most']
    if simulation.exact or least == most:
        return ngettext('The bundle does not fit: %d instance fits.',
                        'The bundle does not fit: %d instances fit.',
                        least) % least
    return _('It is not known whether the bundle fits: %(least)s instances '
             'fit, more than %(most)s do not.') % {
                 'least': least, 'most': most}


def _short(binding: plan_resources.BindingResource) -> str:
    return _('%(resource)s: %(number)s more would be enough.') % {
        'resource': refusals.resource(binding.resource),
        'number': binding.short_by}


def more(hosts: plan_resources.MoreHosts) -> str:
    """Return in words which hosts would free capacity."""
    text = _('%(hosts)s more of host flavor %(flavor)s (%(units)s units, '
             '%(free)s free).') % {
                 'hosts': hosts.hosts, 'flavor': hosts.host_flavor,
                 'units': hosts.units, 'free': hosts.free}
    if hosts.quota_short_by:
        text += ' ' + _('The quota is short by %s.') % hosts.quota_short_by
    return text
