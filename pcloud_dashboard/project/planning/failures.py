# SPDX-License-Identifier: Apache-2.0

"""Which hosts or racks of a Pcloud may fail, in words."""

import collections
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import typing

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.utils.translation import ngettext

from pcloud_dashboard import shown
from pcloud_dashboard.words import reasons

from pcloud.client import plan_resources

# Each host takes a call of the API, so of many hosts one at a time is asked.
MOST_ROWS = 8
# The most columns that a page has room for.
MOST_COLUMNS = 12
# What fails: the value of the API, in words.
LOSABLE = {'host': gettext_lazy('a host'), 'rack': gettext_lazy('a rack')}


@dataclasses.dataclass(frozen=True)
class Loss:
    """A host or a rack that fails.

    :ivar sign: tells the verdict apart without colours
    :ivar level: the class of the row
    """

    name: str
    sign: str
    level: str
    text: str


@dataclasses.dataclass(frozen=True)
class FailureForecast:
    """What a rehearsal says.

    :ivar survives: whether any of the hosts or racks may fail
    :ivar notes: what else there is to know, in words
    """

    text: str
    survives: bool
    losses: list[Loss]
    notes: list[str]


@dataclasses.dataclass(frozen=True)
class Cell:
    """What a host takes over when another fails.

    :ivar kind: fails, takes or none
    """

    kind: str
    text: str


@dataclasses.dataclass(frozen=True)
class TakeOver:
    """Who takes over when a host fails.

    :ivar cells: one for each column of the matrix
    :ivar text: the same in words
    """

    host: str
    cells: list[Cell]
    text: str


@dataclasses.dataclass(frozen=True)
class Matrix:
    """Who takes over from whom, for example.

    :ivar columns: the names of the hosts; none where there are too many
    :ivar others: the hosts that can be asked about beside
    """

    columns: list[str]
    rows: list[TakeOver]
    others: list[str]


def to_ask(rehearsal: plan_resources.Rehearsal, of: str) -> list[str]:
    """Return the hosts whose failure is looked at more closely.

    :param of: the host that the user has chosen, '' for none
    """
    full = sorted({loss.host for loss in rehearsal.losses
                   if loss.host and loss.servers}, key=shown.natural)
    if len(rehearsal.losses) <= MOST_ROWS:
        return full
    return [of] if of in full else []


def matrix(rehearsal: plan_resources.Rehearsal, hosts: Iterable[str],
           drains: Mapping[str, Mapping[str, typing.Any]]) -> Matrix:
    """Return who takes over when hosts fail.

    :param hosts: the names of the hosts of the Pcloud
    :param drains: failing host -> the drain in the answer to a dry run that
        moves all servers
    """
    columns = sorted(hosts, key=shown.natural)
    full = {loss.host for loss in rehearsal.losses
            if loss.host and loss.servers}
    return Matrix(
        columns if len(columns) <= MOST_COLUMNS else [],
        [_take_over(host, columns, drains[host])
         for host in sorted(drains, key=shown.natural)],
        sorted(full - drains.keys(), key=shown.natural))


def _take_over(host: str, columns: list[str],
               drain: Mapping[str, typing.Any]) -> TakeOver:
    taken = collections.Counter(
        move['host'] for move in drain.get('moves') or ())
    cells = [Cell('fails', '✗') if name == host else
             Cell('takes', str(taken[name])) if taken[name] else
             Cell('none', '') for name in columns]
    left = len(drain.get('remaining') or ()) - sum(taken.values())
    sentences = [_('%(host)s takes over %(n)d') % {
        'host': name, 'n': taken[name]}
        for name in sorted(taken, key=shown.natural)]
    if left > 0:
        sentences.append(ngettext(
            'nobody takes over %d', 'nobody takes over %d', left) % left)
    return TakeOver(host, cells, ', '.join(sentences))


def answer(rehearsal: plan_resources.Rehearsal, lose: str,
           names: dict[str, str]) -> FailureForecast:
    """Return a rehearsal in words.

    :param lose: what fails, 'host' or 'rack'
    :param names: the names of servers, by id
    """
    return FailureForecast(
        ' '.join(_sentences(rehearsal, lose)),
        rehearsal.survives == rehearsal.of,
        sorted(map(_loss, rehearsal.losses),
               key=lambda loss: shown.natural(loss.name)),
        [*(_refused(each, names) for each in rehearsal.refused_servers),
         *(reasons.spoken(each, 'text')
           for each in rehearsal.not_explained)])


def _sentences(
    rehearsal: plan_resources.Rehearsal, lose: str,
) -> Iterator[str]:
    if lose == 'rack':
        yield _racks(rehearsal)
    else:
        yield _hosts(rehearsal)
    if not rehearsal.exact:
        yield _('More could not be proven in time.')
    worst = rehearsal.worst
    if worst:
        name = worst.get('host') or _('rack %s') % worst.get('rack')
        yield ngettext(
            'Worst is the loss of %(name)s: %(number)s instance does not fit '
            'then.',
            'Worst is the loss of %(name)s: %(number)s instances do not '
            'fit then.', worst['servers']) % {
                'name': name, 'number': worst['servers']}


def _hosts(rehearsal: plan_resources.Rehearsal) -> str:
    if not rehearsal.of:
        return _('There is no host that may fail.')
    if rehearsal.survives == rehearsal.of:
        return _('Any host may fail: all its instances fit on the '
                 'others.')
    return _('%(survives)s of %(of)s hosts may fail.') % {
        'survives': rehearsal.survives, 'of': rehearsal.of}


def _racks(rehearsal: plan_resources.Rehearsal) -> str:
    if not rehearsal.of:
        return _('The racks of the hosts are not known.')
    if rehearsal.survives == rehearsal.of:
        return _('Any rack may fail: all its instances fit on the '
                 'others.')
    return _('%(survives)s of %(of)s racks may fail.') % {
        'survives': rehearsal.survives, 'of': rehearsal.of}


def _loss(loss: plan_resources.LostServers) -> Loss:
    name = loss.host or _('rack %(rack)s (%(hosts)s)') % {
        'rack': loss.rack, 'hosts': ', '.join(loss.hosts)}
    least, most = loss.no_room['least'] or 0, loss.no_room['most']
    if loss.survives:
        return Loss(name, '✓', 'survives', _('all instances fit')
                    if loss.servers else _('no instances'))
    if loss.survives is None:
        return Loss(name, '?', 'unknown', _('not known') if most is None
                    else ngettext('not proven; at most %d does not fit',
                                  'not proven; at most %d do not fit',
                                  most) % most)
    return Loss(name, '✗', 'fails', (
        ngettext('%d instance does not fit', '%d instances do not fit',
                 least) if least == most else
        ngettext('at least %d instance does not fit',
                 'at least %d instances do not fit', least)) % least)


def _refused(refused: plan_resources.RefusedServer,
             names: dict[str, str]) -> str:
    return _('%(server)s on %(host)s fits nowhere: %(reason)s') % {
        'server': shown.ShownServer(refused.server, names.get(refused.server)),
        'host': refused.host, 'reason': reasons.spoken(refused)}
