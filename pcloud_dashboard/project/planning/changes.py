# SPDX-License-Identifier: Apache-2.0

"""Changes of a Pcloud that would help, as buttons."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses

from django.utils import translation
from django.utils.translation import gettext as _

from pcloud_dashboard.project.planning import bundles

from pcloud.client import plan_resources
from pcloud.client import resources

ENABLE, ADD_HOST, ADD_HOSTS = 'enable', 'add_host', 'add_hosts'


@dataclasses.dataclass(frozen=True)
class OfferedChange:
    """A change that would help.

    :ivar change: 'enable', 'add_host' (a host of a host flavor, at once),
        'add_hosts' (a form with several), or what only others can do
    :ivar subject: the host, or the host flavor
    :ivar can_be_done: whether a button does it; else the text says what
        somebody has to do
    :ivar count: how many hosts to add
    """

    change: str
    subject: str
    text: str
    can_be_done: bool
    count: int = 1


@dataclasses.dataclass(frozen=True)
class Rights:
    """Which changes the user may make.

    A host that is added helps only when it is enabled.
    """

    enable: bool
    add: bool

    def allow(self, change: str) -> bool:
        """Return whether the user may make a change."""
        if change == ENABLE:
            return self.enable
        return change in (ADD_HOST, ADD_HOSTS) and self.enable and self.add


def of_explanation(explanation: plan_resources.Explanation, rights: Rights,
                   flavors: Mapping[str, str]) -> list[OfferedChange]:
    """Return the changes that would free capacity for another server.

    :param flavors: flavor id -> name
    """
    return [OfferedChange(each.change, each.subject, words(each, flavors),
                          rights.allow(each.change))
            for each in explanation.changes]


def words(change: plan_resources.HelpfulChange,
          flavors: Mapping[str, str]) -> str:
    """Return a change in the language of the user.

    The API has English words, and no codes, of changes.

    :param flavors: flavor id -> name
    """
    english = change.text[:1].upper() + change.text[1:]
    if (translation.get_language() or 'en').partition('-')[0] == 'en':
        return english
    told = {
        ENABLE: _('Enable %s'), ADD_HOST: _('Add one host of kind %s'),
        'wait': _('Wait for %s'),
        'flavor': _('Launch an instance of %s, which fits')}.get(
            change.change)
    if told is None:
        return english
    subject = change.subject
    return told % (flavors.get(subject, subject)
                   if change.change == 'flavor' else subject)


def of_rehearsal(rehearsal: plan_resources.Rehearsal,
                 hosts: Iterable[resources.Host],
                 rights: Rights) -> list[OfferedChange]:
    """Return the changes with which more hosts or racks may fail.

    :param hosts: the hosts of the Pcloud
    """
    if rehearsal.survives == rehearsal.of:
        return []
    return [*_enabled(hosts, rights), *more_hosts(rehearsal.more, rights)]


def _enabled(hosts: Iterable[resources.Host],
             rights: Rights) -> Iterator[OfferedChange]:
    """Yield the hosts that may free capacity and cost nothing."""
    for host in hosts:
        if host.state == 'disabled' and not host.instances:
            yield _enabling(host.name, rights)


def _enabling(name: str, rights: Rights) -> OfferedChange:
    return OfferedChange(
        ENABLE, name, _('Enable %s') % name, rights.allow(ENABLE))


def of_simulation(simulation: plan_resources.Simulation,
                  rights: Rights) -> list[OfferedChange]:
    """Return the changes that would free capacity for a bundle."""
    return [*(_enabling(name, rights) for name in simulation.enable),
            *more_hosts(simulation.more, rights)]


def more_hosts(more: Iterable[plan_resources.MoreHosts],
               rights: Rights) -> list[OfferedChange]:
    """Return the host flavors to add hosts of.

    Hosts that are not free, or not within the quota, cannot be added.
    """
    return [OfferedChange(ADD_HOSTS, each.host_flavor, bundles.more(each),
                          rights.allow(ADD_HOSTS) and each.hosts <= each.free
                          and not each.quota_short_by, each.hosts)
            for each in more]
