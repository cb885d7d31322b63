# SPDX-License-Identifier: Apache-2.0

"""The next calls of a client, drawn by chance from all possible calls."""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import itertools
import random

from pcloud.tests.soak import calls
from pcloud.tests.soak import registers

_MOST_PCLOUDS = 3
# So far away that the compute service stays as it is during a run.
_FAR = {'from': '2090-01-01T00:00:00Z', 'reason': 'firmware'}
_STRANGERS = [f'{number:032x}' for number in range(4)]


@dataclasses.dataclass(frozen=True)
class Taste:
    """The hosts and chances that an owner's calls are drawn from.

    :ivar shared: host flavor -> hosts, of host flavors that several owners use
    :ivar spare: hosts that this owner alone puts into a pool
    :ivar enabling: probability that a host is enabled before the removal
    """

    shared: Mapping[str, Sequence[str]]
    spare: Sequence[str]
    enabling: float


class Wishes:
    """Draws the calls of an owner.

    :param mark: the name of the owner's attribute, and the prefix of the ids
        of the owner's host flavors
    """

    def __init__(self, chance: random.Random, project: str, mark: str,
                 taste: Taste) -> None:
        self._chance = chance
        self._project = project
        self._mark = mark
        self._shared, self._spare = taste.shared, taste.spare
        self._enabling = taste.enabling
        self._serial = itertools.count()
        self._weights = {
            self._host: 200, self._pcloud: 6, self._tenant: 4,
            self._quota: 4, self._policy: 6, self._attribute: 3,
            self._flavor: 3, self._pool: 5, self._read: 6,
            self._maintenance: 3}

    def draw(self, values: dict, in_use: int) -> list[calls.Call]:
        """Return the next calls: sometimes several calls at the same time.

        :param values: the owner's registers
        :param in_use: the units that the owner's hosts cost
        """
        self._values, self._in_use = values, in_use
        number = self._chance.choices((1, 2, 3), (92, 5, 3))[0]
        if number == 3:
            return self._fight()
        drawn: list[calls.Call] = []
        while len(drawn) < number:
            kind, = self._chance.choices(
                list(self._weights), list(self._weights.values()))
            call = kind()
            if call is not None:
                drawn.append(call)
        return drawn

    def _fight(self) -> list[calls.Call]:
        """Return calls that compete for the quota, or for a host name."""
        pclouds = self._anchors('pcloud')
        if not pclouds:
            return [self._pcloud()]
        name = self._chance.choice((f'h{next(self._serial)}', None))
        return [self._add(self._chance.choice(pclouds) if name is None
                          else pclouds[0],
                          [name and name.upper(), name][number % 2])
                for number in range(3)]

    def _anchors(self, what: str) -> list[str]:
        return sorted(register[0] for register in self._values
                      if register[1] == what)

    def _details(self, anchor: str, what: str) -> list[str]:
        return sorted(
            register[2] for register, value in self._values.items()
            if register[:2] == (anchor, what) and not (
                registers.is_half(value) or register[2].startswith('*')))

    def _some(self, what: str) -> str | None:
        anchors = self._anchors(what)
        return self._chance.choice(anchors) if anchors else None

    def _host(self) -> calls.Call:
        pcloud = self._some('pcloud')
        if pcloud is None:
            return self._pcloud()
        hosts = self._details(pcloud, 'host')
        # A Pcloud has few hosts, so that most calls find a free host.
        if self._chance.random() < (0.7, 0.6, 0.25)[min(len(hosts), 2)]:
            return self._add(pcloud, None)
        if not hosts:
            return calls.read(f'/os-pclouds/{pcloud}/hosts')
        name = self._chance.choice(hosts)
        state = self._values[pcloud, 'host', name]
        if self._chance.random() < 0.2:
            return calls.drain(pcloud, name, {
                'move': self._chance.choice(('none', 'live', 'any')),
                'release': self._chance.random() < 0.5}, state)
        if state == 'enabled':
            return calls.set_state(pcloud, name, 'disabled')
        if self._chance.random() < self._enabling:
            return calls.set_state(pcloud, name, 'enabled', state)
        return calls.remove_host(pcloud, name, state)

    def _add(self, pcloud: str, name: str | None) -> calls.Call:
        name = name or f'h{next(self._serial)}'
        if self._chance.random() < 0.05:
            return calls.add_host(pcloud, name, 'constraints',
                                  constraints=self._constraints())
        # The probability of a host flavor grows with the number of hosts, so
        # that most calls find a free host.
        sizes = {flavor: len(hosts) for flavor, hosts in self._shared.items()}
        sizes |= {flavor: 1 + len(self._details(flavor, 'pool'))
                  for flavor in self._anchors('flavor')}
        flavor, = self._chance.choices(list(sizes), list(sizes.values()))
        return calls.add_host(pcloud, name, 'flavor', host_flavor=flavor)

    def _constraints(self) -> str:
        # An attribute that no host has is refused as unknown.
        known = ([f'{self._mark}=a'] if self._details(self._mark, 'attribute')
                 else [])
        return self._chance.choice(['cpu=2', 'ram=4G', *known])

    def _pcloud(self) -> calls.Call:
        pclouds = self._anchors('pcloud')
        if not pclouds or (len(pclouds) < _MOST_PCLOUDS and
                           self._chance.random() < 0.4):
            return calls.make_pcloud(
                self._project, f'{self._mark} {next(self._serial)}')
        pcloud = self._chance.choice(pclouds)
        if self._chance.random() < 0.3:
            return calls.delete_pcloud(
                pcloud, any(register[:2] == (pcloud, 'host')
                            for register in self._values))
        changes: dict[str, object] = {
            ratio: self._chance.choice((None, None, 1.5, 2.0, 16.0))
            for ratio in calls.RATIOS if self._chance.random() < 0.6}
        if not changes or self._chance.random() < 0.3:
            changes['name'] = f'{self._mark} {next(self._serial)}'
        return calls.change_pcloud(pcloud, changes)

    def _tenant(self) -> calls.Call | None:
        pcloud = self._some('pcloud')
        if pcloud is None:
            return None
        project = self._chance.choice(_STRANGERS)
        if (pcloud, 'tenant', project) in self._values:
            return calls.remove_tenant(pcloud, project)
        return calls.add_tenant(pcloud, project)

    def _quota(self) -> calls.Call:
        if self._chance.random() < 0.2:
            return calls.reset_quota(self._project)
        limit = self._chance.choice((-1, 4, 6, 8, 10))
        return calls.set_quota(self._project, limit,
                               lowers=0 <= limit < self._in_use)

    def _policy(self) -> calls.Call:
        pclouds = self._anchors('pcloud')
        scope, anchor = 'project', self._project
        if pclouds and self._chance.random() < 0.5:
            scope, anchor = 'pcloud', self._chance.choice(pclouds)
        if self._chance.random() < 0.3:
            return calls.delete_policy(
                scope, anchor, (anchor, 'policy', '') in self._values)
        return calls.set_policy(scope, anchor, self._chance.randint(1, 4))

    def _attribute(self) -> calls.Call:
        having = self._details(self._mark, 'attribute')
        if having and self._chance.random() < 0.3:
            return calls.delete_attribute(self._mark, having[:2])
        pool = self._chance.choice(list(self._shared.values()))
        return calls.set_attribute(
            self._mark, self._chance.choice('ab'),
            sorted(self._chance.sample(pool, 2)))

    def _flavor(self) -> calls.Call:
        flavor = self._some('flavor')
        units = self._chance.randint(0, 2)
        if flavor is None:
            return calls.make_flavor(
                f'{self._mark}-{next(self._serial)}', units)
        if self._chance.random() < 0.3:
            return calls.delete_flavor(
                flavor, bool(self._details(flavor, 'pool')))
        # Units never grow: hosts of the host flavor may be in Pclouds whose
        # owners have used up their quotas.
        now = int(self._values[flavor, 'flavor', ''][0])
        return calls.change_flavor(flavor, min(units, now),
                                   f'change {next(self._serial)}')

    def _pool(self) -> calls.Call | None:
        flavor = self._some('flavor')
        if flavor is None:
            return None
        inside = self._details(flavor, 'pool')
        outside = [host for host in self._spare if host not in inside]
        if inside and (not outside or self._chance.random() < 0.5):
            return calls.empty_pool(flavor, self._chance.choice(inside))
        return calls.fill_pool(flavor, self._chance.choice(outside))

    def _maintenance(self) -> calls.Call | None:
        flavor = self._some('flavor')
        inside = self._details(flavor, 'pool') if flavor else []
        if not flavor or not inside:
            return None
        return calls.announce(flavor, self._chance.choice(inside),
                              self._chance.choice((None, _FAR)))

    def _read(self) -> calls.Call:
        paths = ['/os-pclouds', '/os-host-flavors',
                 f'/os-pcloud-quotas/{self._project}']
        for pcloud in self._anchors('pcloud'):
            paths += [f'/os-pclouds/{pcloud}', f'/os-pclouds/{pcloud}/hosts',
                      f'/os-pclouds/{pcloud}/tenants']
        return calls.read(self._chance.choice(paths))
