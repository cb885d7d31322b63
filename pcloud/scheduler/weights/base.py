# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The common bases of Pcloud's weighers."""

from __future__ import annotations

import abc
import collections
from collections.abc import Callable
from collections.abc import Sequence
import math
from typing import Any

from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import utils
from nova.scheduler import weights
from oslo_config import cfg

from pcloud.scheduler import host_attributes
from pcloud.scheduler import siblings

CONF = cfg.CONF


def multiplier(
    host_state: host_manager.HostState, option: str,
) -> float:
    """Return a multiplier: of a host's aggregates, or else of the option.

    Nova accepts nan and infinity as multipliers, by which no host can be
    weighed.

    :param option: an option in [pcloud], and a metadata key of aggregates
    """
    value = utils.get_weight_multiplier(
        host_state, option, CONF.pcloud[option])
    return value if math.isfinite(value) else CONF.pcloud[option]


def counts(
    host_states: Sequence[host_manager.HostState], option: str,
) -> bool:
    """Whether the multiplier of any host may differ from zero.

    The aggregates of all hosts are looked at once; Nova asks for the
    multiplier of each host after the host is weighed.

    :param option: as for `multiplier`
    """
    return bool(CONF.pcloud[option]) or any(
        option in aggregate.metadata for aggregate
        in host_attributes.aggregates(host_states).values())


def among_equals(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec,
    scores: Callable[[Sequence[host_manager.HostState]], list[float]],
) -> list[float]:
    """Return the scores of hosts, each among the hosts that stand as high.

    A server that comes alone is neither offered full hosts nor hosts that
    filters drop for better hosts, so these hosts change no other host's score.

    :param scores: returns the score of each of some hosts
    """
    if not siblings.are_several(spec):
        return scores(host_states)
    standings = siblings.standings(spec, host_states)
    groups = collections.defaultdict(list)
    for host_state, standing in zip(host_states, standings, strict=True):
        groups[standing].append(host_state)
    known = {standing: iter(scores(group))
             for standing, group in groups.items()}
    return [next(known[standing]) for standing in standings]


class ListWeigher(weights.BaseHostWeigher):
    """Weigh each host by a value that depends on all hosts."""

    def _weigh_object(
        self, obj: host_manager.HostState,
        weight_properties: objects.RequestSpec,
    ) -> float:
        """Never called: `weigh_objects` weighs all hosts."""
        raise NotImplementedError()


class RankWeigher(ListWeigher):
    """Order hosts, with more weight than the order of other weighers.

    :cvar multiplier: the weight of a rank
    """

    # Ranks are not to be normalised: from each rank to the next the weight
    # grows by the multiplier, however many ranks there are.
    minval, maxval = 0, 1
    multiplier: float

    def weight_multiplier(
        self, host_state: host_manager.HostState,
    ) -> float:
        """Return the weight of a rank."""
        return self.multiplier


class AttributeWeigher(ListWeigher):
    """Weigh hosts by an attribute of the hosts.

    Scores are from 0 to 1 and depend on all hosts, so Nova's own normalising
    changes nothing: where scores differ, the lowest score is 0 and the highest
    score is 1.

    :cvar attribute: the name of the attribute
    :cvar option: the multiplier, in [pcloud] and in metadata of aggregates
    """

    attribute: str
    option: str

    def weight_multiplier(
        self, host_state: host_manager.HostState,
    ) -> float:
        """Return the multiplier for the weight of a host."""
        return multiplier(host_state, self.option)

    def weigh_objects(
        self, weighed_obj_list: Sequence[weights.WeighedHost],
        weight_properties: objects.RequestSpec,
    ) -> list[float]:
        """Return the score of each host, 0 without a multiplier."""
        hosts = [weighed.obj for weighed in weighed_obj_list]
        if not counts(hosts, self.option):
            return [0.0] * len(hosts)
        return among_equals(
            hosts, weight_properties,
            lambda host_states: self.scores(
                host_attributes.values(host_states, self.attribute)))

    @abc.abstractmethod
    def scores(self, values: list[Any]) -> list[float]:
        """Return a score from 0 to 1 for each value of the attribute."""
