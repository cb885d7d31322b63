# SPDX-License-Identifier: Apache-2.0

"""The command that shows whether servers fit a Pcloud together."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import typing

from pcloud.client import display
from pcloud.client.osc import common

if typing.TYPE_CHECKING:
    from pcloud.client import plan_resources
    from pcloud.client import resources
    from pcloud.client import servers


class SimulatePcloud(common.ShowOne):
    """Show whether servers of several flavors fit a Pcloud together

    For each host a bar shows what is used (#), what the servers would take (+)
    and what is free (.). When the servers do not fit, the hosts to enable are
    shown, which costs nothing, what there is too little of, and which hosts to
    add beside, the cheapest first.
    """

    _epilog = ('Example:\n  openstack pcloud simulate render-farm '
               '--server m1.large=40 --server m1.small=10')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud, the servers and the hosts that count."""
        common.add_pcloud_argument(parser)
        parser.add_argument(
            '--server', metavar='<flavor>=<count>', dest='servers',
            action='append', required=True, type=common.flavor_count,
            help='Servers of a flavor (name or id); repeat for several '
                 'flavors')
        parser.add_argument(
            '--apart', action='store_true',
            help='Each of the servers of a flavor on another host')
        parser.add_argument(
            '--include-disabled', action='store_true',
            help='Disabled hosts count too')
        parser.add_argument(
            '--without', metavar='<host>', action='append', default=[],
            help='A host of the Pcloud that does not count; may be repeated')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the simulation."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        flavors = {name: self.client.servers.find_flavor(name)
                   for name, _ in parsed_args.servers}
        asked = [
            {'flavor': flavors[name].id, 'count': count,
             **({'apart': True} if parsed_args.apart else {})}
            for name, count in parsed_args.servers]
        found = self.client.simulate(
            pcloud.id, asked, parsed_args.include_disabled,
            parsed_args.without)
        hosts = self.client.list_hosts(pcloud.id)
        by_id = {flavor.id: flavor for flavor in flavors.values()}
        bars = _bars(hosts, _states(hosts, parsed_args.without), found, by_id)
        named = tuple(dataclasses.replace(
            each, flavor=by_id[each.flavor].name) for each in found.placed)
        return _shown(found, named, bars)


def _shown(
    found: plan_resources.Simulation,
    placed: Sequence[plan_resources.PlacedServers],
    bars: str,
) -> common.Shown:
    members = (
        ('fits', found.fits, display.text),
        ('refused', found.refused, display.text),
        ('exact', found.exact, display.text),
        ('bounds', found.bounds, display.bounds),
        ('placed', placed, lambda _: bars),
        ('changes', [f'enable {name}' for name in found.enable],
         display.lines),
        ('binding', found.binding, display.binding),
        ('more', found.more, display.more_hosts),
        ('not_explained', found.not_explained, display.not_explained))
    return ([name for name, *_ in members],
            [common.Readable(value, human) for _, value, human in members])


def _states(
    hosts: Sequence[resources.Host], without: Sequence[str],
) -> dict[str, str]:
    """Return the name of each host -> why servers may start there or not."""
    left_out = {name.casefold() for name in without}
    return {host.name: 'left out' if host.name.casefold() in left_out
            else display.text(host.state) for host in hosts}


def _bars(
    hosts: Sequence[resources.Host], states: Mapping[str, str],
    found: plan_resources.Simulation, flavors: Mapping[str, servers.Flavor],
) -> str:
    """Return two bars for each host, and what servers it would take."""
    return '\n'.join(
        line for host in hosts for line in _of_host(
            host, states[host.name],
            [each for each in found.placed if each.host == host.name],
            flavors)) or '-'


def _of_host(
    host: resources.Host, state: str,
    placed: Sequence[plan_resources.PlacedServers],
    flavors: Mapping[str, servers.Flavor],
) -> Iterator[str]:
    taken = ', '.join(f'{each.count} {flavors[each.flavor].name}'
                      for each in placed)
    yield f'{host.name} ({state}): {taken or "-"}'
    for name, size, used, planned in (
            ('cpus  ', host.vcpus, host.vcpus_used, sum(
                each.count * flavors[each.flavor].vcpus for each in placed)),
            ('memory', host.memory_mb, host.memory_mb_used, sum(
                each.count * flavors[each.flavor].ram for each in placed))):
        if size is not None:
            yield (f'  {name} {display.bar(used or 0, planned, size)} '
                   f'{used or 0} + {planned} of {size}')
