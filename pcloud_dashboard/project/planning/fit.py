# SPDX-License-Identifier: Apache-2.0

"""Pictures of how many more servers fit the hosts of a Pcloud."""

from collections.abc import Iterable
import dataclasses

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from pcloud_dashboard import shown

from pcloud.client import plan_resources
from pcloud.client import resources

# The most boxes of a kind that a picture has; more are told as a number.
MOST_BOXES = 40


@dataclasses.dataclass(frozen=True)
class Picture:
    """A host with its servers, and with those that would fit.

    :ivar running: how many servers are on the host, None where not known
    :ivar reasons: what keeps the next server away, in words
    """

    name: str
    state: str
    running: int | None
    fits: int
    reasons: tuple[str, ...]

    @property
    def running_boxes(self) -> range:
        """As many items as there are boxes of servers."""
        return range(min(self.running or 0, MOST_BOXES))

    @property
    def ghost_boxes(self) -> range:
        """As many items as there are boxes of servers that would fit."""
        return range(min(self.fits, MOST_BOXES))

    @property
    def text(self) -> str:
        """The picture in words."""
        if self.running is None:
            runs = _('the number of instances is not known')
        else:
            runs = ngettext('%d instance runs', '%d instances run',
                            self.running) % self.running
        return _('%(runs)s, %(fits)s') % {
            'runs': runs,
            'fits': ngettext('%d more fits', '%d more fit', self.fits)
            % self.fits}


def pictures(explanation: plan_resources.Explanation,
             hosts: Iterable[resources.Host]) -> list[Picture]:
    """Return the picture of each host, in the order of their names."""
    by_name = {host.name: host for host in hosts}
    return sorted(
        (_picture(each, by_name.get(each.name))
         for each in explanation.hosts),
        key=lambda picture: shown.natural(picture.name))


def _picture(explained: plan_resources.ExplainedHost,
             host: resources.Host | None) -> Picture:
    # A host may have joined or left between the two calls.
    instances = host.instances if host else None
    return Picture(
        explained.name, host.state or '' if host else '',
        None if instances is None else len(instances), explained.fits,
        tuple(each.reason for each in explained.in_the_way))
