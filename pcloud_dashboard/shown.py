# SPDX-License-Identifier: Apache-2.0

"""What pages show of hosts and Pclouds: amounts, states and words."""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
import functools
import typing

from django.utils import dateparse
from django.utils import formats
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.utils.translation import ngettext

from pcloud_dashboard import kinds
from pcloud_dashboard.words import reasons

from pcloud.client import resources

UNLIMITED = -1
# How the servers of a host are moved: the value of the API, in words that
# complete a sentence.
MOVES = {'none': gettext_lazy('stay until you move or delete them'),
         'live': gettext_lazy('that run move to other hosts'),
         'any': gettext_lazy('all move to other hosts')}

# What a Pcloud does at a maintenance: the value of the API, in words.
MAINTENANCE = {
    None: gettext_lazy('instances stay on the host'),
    'migrate': gettext_lazy('instances move to other hosts before'),
    'replace': gettext_lazy('a free host takes the place of the host')}


def choices(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return ids and names, in the order of the names.

    :param names: ``id -> name``
    """
    return sorted(names.items(), key=lambda each: each[1].casefold())


# What happens to the servers of a host that has failed: the value of the API,
# in words.
RECOVERY = {
    None: gettext_lazy('nothing is started elsewhere'),
    'in_place': gettext_lazy('instances start on the other hosts'),
    'replace': gettext_lazy('a spare or a free host joins, and instances '
                            'start on the other hosts')}
_RECOVERING = {
    'moving': gettext_lazy('The host has failed. Its instances start on '
                           'other hosts.'),
    'held': gettext_lazy('The host has failed. Many hosts have failed at '
                         'once, so nothing starts elsewhere before the '
                         'operator says so.'),
    'done': gettext_lazy('The host has failed. Its instances run on other '
                         'hosts.')}


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of what is used, such as a server.

    :ivar percent: of what is used
    """

    title: str
    percent: float


@dataclasses.dataclass(frozen=True)
class Bar:
    """How much of something is used.

    :ivar used: in the unit of the size
    :ivar size: None where nobody knows, or where there is no limit
    :ivar text: both in words
    :ivar parts: what the used part of the bar is made of, where known
    """

    used: int
    size: float | None
    text: str
    parts: tuple[Part, ...] = ()

    @property
    def percent(self) -> int:
        """The width of the bar: 0 to 100."""
        if not self.size:
            return 0
        return min(100, round(100 * self.used / self.size))

    @property
    def level(self) -> str:
        """The class of the bar; the text says the same."""
        if self.size is not None and self.used >= self.size:
            return 'full'
        return 'high' if self.percent >= 80 else 'normal'


@dataclasses.dataclass(frozen=True)
class PlainBar(Bar):
    """A bar that may be full, without anybody being warned."""

    @property
    def level(self) -> str:
        """The class of the bar, the same for all."""
        return 'normal'


def part(share: float) -> Bar:
    """Return a part of a whole, from 0 to 1."""
    percent = round(100 * share)
    return PlainBar(percent, 100, _('%s %%') % percent)


def memory(mebibytes: float) -> str:
    """Return an amount of memory in words."""
    if mebibytes < 1024:
        return _('%s MiB') % amount(mebibytes)
    return _('%s GiB') % amount(mebibytes / 1024)


def amount(number: float) -> str:
    """Return a number with a decimal at most, as users write numbers."""
    rounded = round(number, 1)
    return formats.number_format(
        rounded, 0 if rounded == int(rounded) else 1)


def vcpu_bar(host: resources.Host, pcloud: resources.Pcloud) -> Bar | None:
    """Return how many vCPUs of a host are used, None where not known.

    The size is what the ratio of the Pcloud gives. Without a ratio the cloud
    may give more than the host has.
    """
    return _bar(host.vcpus_used, host.vcpus, pcloud.cpu_allocation_ratio,
                amount)


def memory_bar(host: resources.Host,
               pcloud: resources.Pcloud) -> Bar | None:
    """Return how much memory of a host is used, None where not known."""
    return _bar(host.memory_mb_used, host.memory_mb,
                pcloud.ram_allocation_ratio, memory)


def _bar(used: int | None, size: int | None, ratio: float | None,
         words: typing.Callable[[float], str]) -> Bar | None:
    if used is None or size is None:
        return None
    whole = size if ratio is None else size * ratio
    text = _('%(used)s of %(size)s') % {
        'used': words(used), 'size': words(whole)}
    if ratio is not None and ratio != 1:
        text += ' ' + _('(%(size)s × %(ratio)s)') % {
            'size': words(size), 'ratio': amount(ratio)}
    return Bar(used, whole, text)


def free(pcloud: resources.Pcloud, resource: str) -> int | None:
    """Return how much is free in a Pcloud, None where the API does not tell.

    :param resource: hosts, vcpus or memory_mb; a free host is an empty one
    """
    return pcloud.free[resource] if pcloud.free else None


def lent(pcloud: resources.Pcloud) -> str:
    """Return to how many other projects a Pcloud is lent, in words."""
    others = len(set(pcloud.tenants or ()) - {pcloud.owner})
    if not others:
        return _('lent to nobody')
    return ngettext('lent to %d project', 'lent to %d projects',
                    others) % others


def quota_bar(quota: resources.Quota) -> Bar:
    """Return how many units of the quota are used."""
    used = quota.units_in_use or 0
    if quota.units_limit == UNLIMITED:
        return Bar(used, None, _('%s in use, no limit') % used)
    return Bar(used, quota.units_limit, _('%(used)s of %(limit)s in use') % {
        'used': used, 'limit': quota.units_limit})


@dataclasses.dataclass(frozen=True)
class ShownServer:
    """A server on a host of a Pcloud.

    :ivar name: None for a server of another project
    """

    id: str
    name: str | None

    def __str__(self) -> str:
        """Return the name, or the beginning of the id."""
        return self.name or self.id[:8]


@dataclasses.dataclass(frozen=True)
class Left:
    """A server that is left on a host that drains.

    :ivar reason: what keeps the server there, None for nothing
    """

    server: ShownServer
    reason: str | None


@dataclasses.dataclass(frozen=True)
class ShownHost:
    """A host of a Pcloud, as a project sees the host.

    The real name of the host, which the API tells administrators, is no part
    of the value, and so of no page of a project.

    :ivar kind: the resources and traits, None where not known
    :ivar leaves: when the host leaves the Pcloud, None for no date
    :ivar left: what is left on a host that drains or has failed, None where
        not known
    :ivar at_maintenance: what happens at a maintenance, in words
    """

    name: str
    host_flavor: str | None
    availability_zone: str | None
    rack: int | None
    state: str
    status: str
    servers: tuple[ShownServer, ...] | None
    vcpus: Bar | None
    memory: Bar | None
    kind: kinds.ShownKind | None
    next_reboot: datetime.datetime | None
    maintenance: Mapping[str, typing.Any] | None
    drain: Mapping[str, typing.Any] | None
    recovery: Mapping[str, typing.Any] | None
    leaves: datetime.datetime | None
    left: tuple[Left, ...] | None
    at_maintenance: str

    @property
    def is_enabled(self) -> bool:
        """Whether new servers may start on the host."""
        return self.state == 'enabled'

    @property
    def is_draining(self) -> bool:
        """Whether the host is being emptied."""
        return self.state == 'draining'

    @property
    def state_words(self) -> str:
        """The state in words."""
        return {'enabled': _('enabled'), 'disabled': _('disabled'),
                'draining': _('draining'), 'spare': _('spare')
                }.get(self.state, self.state)

    @property
    def is_spare(self) -> bool:
        """Whether the host waits until another host is away."""
        return self.state == 'spare'

    @property
    def recovery_words(self) -> str:
        """What is done for a host that has failed."""
        recovery = self.recovery or {}
        words = [str(_RECOVERING.get(recovery.get('state', ''), '')),
                 *stuck(recovery)]
        if recovery.get('replacement'):
            words.append(_('%s stands in for it.') % recovery['replacement'])
        return ' '.join(words)

    @property
    def status_words(self) -> str:
        """The status in words."""
        return {
            'up': _('up'),
            'down': _('down: the host does not answer'),
            'maintenance': _('in maintenance by the operator'),
        }.get(self.status, self.status)

    @property
    def blockers(self) -> list[str]:
        """What stands in the way of removing the host, in words."""
        found = []
        if self.state != 'disabled':
            found.append(_('The host is %s; disable it first.')
                         % self.state_words)
        if self.servers is None:
            found.append(_('Which instances are on the host is not known '
                           'while a part of the cloud does not answer.'))
        elif self.servers:
            found.append(ngettext(
                '%d instance is on the host; move or delete it first, or '
                'drain the host.',
                '%d instances are on the host; move or delete them first, or '
                'drain the host.', len(self.servers)) % len(self.servers))
        return found

    @property
    def drain_words(self) -> str:
        """What happens to the servers of a host that drains."""
        drain = self.drain or {}
        words = MOVES.get(drain.get('move') or 'none', '')
        if drain.get('release'):
            words = _('Instances %s. The host leaves the Pcloud when it is '
                      'empty.') % words
        else:
            words = _('Instances %s.') % words
        return ' '.join([words, *stuck(drain)])

    @property
    def drain_deadline(self) -> datetime.datetime | None:
        """Until when the host is to be empty."""
        return moment((self.drain or {}).get('deadline'))

    @property
    def maintenance_from(self) -> datetime.datetime | None:
        """When the maintenance begins."""
        return moment((self.maintenance or {}).get('from'))

    @property
    def maintenance_until(self) -> datetime.datetime | None:
        """When the maintenance is expected to be over."""
        return moment((self.maintenance or {}).get('until'))

    @property
    def maintenance_reason(self) -> str | None:
        """Why there is a maintenance, where the API says so."""
        return (self.maintenance or {}).get('reason')


def moment(text: str | None) -> datetime.datetime | None:
    """Return the moment that the API has written, None for none.

    A moment without a time zone, such as a date, is one of UTC.
    """
    when = dateparse.parse_datetime(text) if text else None
    if when is not None and timezone.is_naive(when):
        return when.replace(tzinfo=datetime.UTC)
    return when


def day_and_time(text: str | None) -> str:
    """Return the moment that the API has written, as users write moments."""
    when = moment(text)
    return '-' if when is None else formats.date_format(
        timezone.localtime(when), 'SHORT_DATETIME_FORMAT')


def host(value: resources.Host, pcloud: resources.Pcloud,
         names: Mapping[str, str]) -> ShownHost:
    """Return what a project sees of a host.

    :param names: the names of servers, by id
    """
    return ShownHost(
        name=value.name, host_flavor=value.host_flavor,
        availability_zone=value.availability_zone, rack=value.rack,
        state=value.state or '', status=value.status or '',
        servers=None if value.instances is None else tuple(
            ShownServer(each, names.get(each)) for each in value.instances),
        vcpus=vcpu_bar(value, pcloud), memory=memory_bar(value, pcloud),
        kind=kinds.of_host(value), next_reboot=moment(value.next_reboot),
        maintenance=value.maintenance, drain=value.drain,
        recovery=value.recovery, leaves=moment(value.until),
        left=_left(value.recovery or value.drain or {}, names),
        at_maintenance=at_maintenance(pcloud))


def stuck(drain: Mapping[str, typing.Any]) -> list[str]:
    """Return what keeps a whole drain or recovery from going on.

    A sentence each.
    """
    return [_('Nothing goes on: %s.') % reasons.of_body(each)
            for each in drain.get('blockers') or () if not each['server']]


def at_maintenance(pcloud: resources.Pcloud) -> str:
    """Return what happens at a maintenance of a host, in words."""
    return MAINTENANCE.get(pcloud.maintenance_policy, MAINTENANCE[None])


def _left(drain: Mapping[str, typing.Any],
          names: Mapping[str, str]) -> tuple[Left, ...] | None:
    """Return what is left on a host, None where not known."""
    if drain.get('remaining') is None:
        return None
    why = {each['server']: reasons.of_body(each)
           for each in drain.get('blockers') or ()}
    return tuple(Left(ShownServer(each, names.get(each)), why.get(each))
                 for each in drain['remaining'])


def hosts(values: Iterable[resources.Host], pcloud: resources.Pcloud,
          names: Mapping[str, str]) -> list[ShownHost]:
    """Return what a project sees of hosts, in the order of their names."""
    shown = functools.partial(host, pcloud=pcloud, names=names)
    return sorted(map(shown, values), key=lambda each: natural(each.name))


def number(text: str) -> int | str:
    """Return a whole number as a user has written the number.

    A text that is no number, or is too long for any number of the API, is
    returned as the text is, so that the API names what is wrong. Python reads
    no number of thousands of digits.
    """
    return int(text) if len(text) < 10 and text.isdecimal() else text


def natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts web-2 before web-10."""
    parts: list[tuple[int, str]] = []
    for character in name.casefold():
        if character.isdecimal() and parts and parts[-1][1] == '':
            parts[-1] = (parts[-1][0] * 10 + int(character), '')
        elif character.isdecimal():
            parts.append((int(character), ''))
        else:
            parts.append((-1, character))
    return parts
