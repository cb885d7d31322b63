# SPDX-License-Identifier: Apache-2.0

"""The command that shows which hosts of a Pcloud may fail."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from collections.abc import Sequence
import typing

from pcloud.client import display
from pcloud.client.osc import common
from pcloud import text

if typing.TYPE_CHECKING:
    from pcloud.client import plan_resources
    from pcloud.client import resources

# What fails -> the answer where nothing of the kind is known.
_NOTHING = {'host': 'there is no host',
            'rack': 'the racks of the hosts are not known'}


class RehearsePcloud(common.ShowOne):
    """Show which hosts of a Pcloud may fail with capacity for their servers

    For each host a bar shows what is used (#) and what is free (.), and
    whether all its servers fit on the other enabled hosts when the host
    fails, without moving anything else. Where they do not, the hosts to enable
    are shown, and which hosts to add, the cheapest first.
    """

    _epilog = 'Example:\n  openstack pcloud rehearse render-farm --lose rack'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud and what fails."""
        common.add_pcloud_argument(parser)
        parser.add_argument(
            '--lose', choices=tuple(_NOTHING), default='host',
            help='What fails, one at a time: each host (the default), or '
                 'each rack')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the rehearsal."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        found = self.client.rehearse(pcloud.id, parsed_args.lose)
        hosts = self.client.list_hosts(pcloud.id)
        members = (
            ('survives', found.survives, lambda _: _sentence(
                found, parsed_args.lose)),
            ('of', found.of, display.text),
            ('exact', found.exact, display.text),
            ('bounds', found.bounds, display.bounds),
            ('worst', found.worst, display.worst),
            ('losses', found.losses, lambda _: _bars(hosts, found)),
            ('changes', list(_changes(hosts, found)), display.lines),
            ('more', found.more, display.more_hosts),
            ('refused_servers', found.refused_servers,
             display.refused_servers),
            ('not_explained', found.not_explained, display.not_explained))
        return ([name for name, *_ in members],
                [common.Readable(value, human) for _, value, human in members])


def _sentence(found: plan_resources.Rehearsal, lose: str) -> str:
    """Return the answer in a sentence."""
    number = text.counted(found.of, lose, f'{lose}s')
    if not found.of:
        return _NOTHING[lose]
    if found.survives == found.of:
        return f'any of {number} may fail: all servers fit'
    doubt = '' if found.exact else ', as far as is proven'
    return f'{found.survives} of {number} may fail{doubt}'


def _changes(
    hosts: Sequence[resources.Host], found: plan_resources.Rehearsal,
) -> Iterator[str]:
    """Yield the hosts that may free capacity and cost nothing, in words."""
    if found.survives < found.of:
        for host in hosts:
            if host.state == 'disabled' and not host.instances:
                yield f'enable {host.name}, and rehearse again'


def _bars(
    hosts: Sequence[resources.Host], found: plan_resources.Rehearsal,
) -> str:
    """Return the verdict on each loss, and bars for its hosts."""
    by_name = {host.name: host for host in hosts}
    lines = []
    for loss in found.losses:
        lines.append(display.loss(loss))
        # A host may have left between both answers.
        for name in by_name.keys() & {loss.host}:
            lines += _of_host(by_name[name], '')
        for name in filter(by_name.__contains__, loss.hosts):
            lines += _of_host(by_name[name], f'{name} ')
    return '\n'.join(lines) or '-'


def _of_host(host: resources.Host, label: str) -> Iterator[str]:
    """Yield two bars.

    :param label: what is written in front of each bar
    """
    for kind, size, used in (
            ('cpus  ', host.vcpus, host.vcpus_used),
            ('memory', host.memory_mb, host.memory_mb_used)):
        if size is not None:
            yield (f'  {label}{kind} {display.bar(used or 0, 0, size)} '
                   f'{used or 0} of {size}')
