# SPDX-License-Identifier: Apache-2.0

"""What is to be known of a Pcloud at once, each with a link."""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from django.utils import formats
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from pcloud_dashboard.project import pages
from pcloud_dashboard import shown

from pcloud.client import plan_resources
from pcloud.client import resources

# The most chips of a kind; the last of them tells how many there are more.
_MOST = 3
_SIGNS = {'good': '✓', 'warning': '!', 'note': '•'}


@dataclasses.dataclass(frozen=True)
class Chip:
    """A sentence that leads to what it is about.

    :ivar level: good, warning or note
    """

    text: str
    address: str
    level: str

    @property
    def sign(self) -> str:
        """What tells the level without a colour."""
        return _SIGNS[self.level]


def fits(pcloud_id: str, explanation: plan_resources.Explanation,
         flavor: str) -> Chip:
    """Return how many more servers of a flavor fit.

    :param flavor: the name of the flavor
    """
    address = (pages.own_address('detail', pcloud_id) + '?'
               + pages.question('fit', flavor=explanation.flavor))
    if not explanation.fits:
        return Chip(_('no more %s fits') % flavor, address, 'warning')
    return Chip(
        ngettext('%(n)d more %(flavor)s fits', '%(n)d more %(flavor)s fit',
                 explanation.fits) % {
                     'n': explanation.fits, 'flavor': flavor},
        address, 'good')


def failures(pcloud_id: str,
             rehearsal: plan_resources.Rehearsal) -> Chip | None:
    """Return which hosts must not fail; None for a Pcloud without hosts."""
    address = pages.address(pcloud_id, 'failures')
    fatal = [each.host for each in rehearsal.losses
             if each.survives is False and each.host]
    if fatal:
        first, *more = sorted(fatal, key=shown.natural)
        text = (_('%s must not fail') % first if not more else
                ngettext('%(host)s and %(n)d more must not fail',
                         '%(host)s and %(n)d more must not fail',
                         len(more)) % {'host': first, 'n': len(more)})
        return Chip(text, address, 'warning')
    if not rehearsal.of:
        return None
    if rehearsal.survives == rehearsal.of:
        return Chip(_('any one host may fail'), address, 'good')
    return Chip(_('not proven that any one host may fail'), address, 'note')


def of_hosts(pcloud_id: str, hosts: Iterable[resources.Host],
             names: Mapping[str, str]) -> list[Chip]:
    """Return what is announced, and what does not go on, for hosts.

    :param names: the names of servers, by id
    """
    found = sorted(hosts, key=lambda host: shown.natural(host.name))
    return [*_few(pcloud_id, [_recovery(pcloud_id, each) for each in found
                              if each.recovery]),
            *_few(pcloud_id, [chip for each in found
                              for chip in _drains(pcloud_id, each, names)]),
            *_few(pcloud_id, [_maintenance(pcloud_id, each)
                              for each in found if each.maintenance])]


def _few(pcloud_id: str, chips: list[Chip]) -> list[Chip]:
    """Return a few of the chips, and how many there are beside."""
    if len(chips) <= _MOST:
        return chips
    more = len(chips) - _MOST + 1
    return [*chips[:_MOST - 1], Chip(
        ngettext('%d more like this', '%d more like this', more) % more,
        pages.address(pcloud_id), chips[0].level)]


def _row(pcloud_id: str, host: resources.Host) -> str:
    return f'{pages.address(pcloud_id)}#pcloud-host-{host.name}'


def _maintenance(pcloud_id: str, host: resources.Host) -> Chip:
    begin = shown.moment((host.maintenance or {}).get('from'))
    day = formats.date_format(
        timezone.localtime(begin), 'MONTH_DAY_FORMAT') if begin else '-'
    return Chip(_('maintenance of %(host)s on %(day)s') % {
        'host': host.name, 'day': day}, _row(pcloud_id, host), 'note')


def _drains(pcloud_id: str, host: resources.Host,
            names: Mapping[str, str]) -> list[Chip]:
    """Return what keeps a host from draining, one for all its servers."""
    blockers = (host.drain or {}).get('blockers') or ()
    servers = [each['server'] for each in blockers if each['server']]
    if servers:
        first = str(shown.ShownServer(servers[0], names.get(servers[0])))
        more = len(servers) - 1
        text = (_('%(server)s keeps %(host)s from draining') if not more
                else ngettext(
                    '%(server)s and %(n)d more keep %(host)s from draining',
                    '%(server)s and %(n)d more keep %(host)s from draining',
                    more))
        return [Chip(text % {'server': first, 'host': host.name, 'n': more},
                     _row(pcloud_id, host), 'warning')]
    if blockers:
        return [Chip(_('%s does not drain') % host.name,
                     _row(pcloud_id, host), 'warning')]
    return []


def _recovery(pcloud_id: str, host: resources.Host) -> Chip:
    state = (host.recovery or {}).get('state')
    texts = {'moving': _('%s has failed: its instances start elsewhere'),
             'held': _('%s has failed: its recovery is held'),
             'done': _('%s has failed: its instances run elsewhere')}
    text = texts.get(state or '', _('%s has failed'))
    return Chip(text % host.name, _row(pcloud_id, host),
                'note' if state == 'done' else 'warning')
