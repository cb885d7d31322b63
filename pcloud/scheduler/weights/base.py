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

"""What Pcloud's weighers share."""

from __future__ import annotations

import abc
from collections.abc import Sequence
import math
from typing import Any

from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import utils
from nova.scheduler import weights
from oslo_config import cfg

from pcloud.scheduler import host_attributes

CONF = cfg.CONF


def multiplier(
    host_state: host_manager.HostState, option: str,
) -> float:
    """Return a multiplier: of a host's aggregates, or else the option.

    Nova takes nan and infinity for numbers, with which nothing can be
    weighed.

    :param option: in [pcloud], and a metadata key of aggregates
    """
    found = utils.get_weight_multiplier(
        host_state, option, CONF.pcloud[option])
    return found if math.isfinite(found) else CONF.pcloud[option]


class ListWeigher(weights.BaseHostWeigher):
    """Weigh hosts by something that depends on all of them."""

    def _weigh_object(self, obj, weight_properties):
        """Never asked: `weigh_objects` answers for all."""
        raise NotImplementedError()


class RankWeigher(ListWeigher):
    """Put hosts into an order that comes before that of other weighers.

    :cvar multiplier: what one rank is worth
    """

    # Ranks are not to be normalised: however many there are, from one to the
    # next it is the multiplier.
    minval, maxval = 0, 1
    multiplier: float

    def weight_multiplier(
        self, host_state: host_manager.HostState,
    ) -> float:
        """Return what one rank is worth."""
        return self.multiplier


class AttributeWeigher(ListWeigher):
    """Weigh hosts by one of their attributes.

    Scores are from 0 to 1 and depend on all the hosts, so that Nova's own
    normalising changes nothing: where they differ, the lowest is 0 and the
    highest is 1.

    :cvar attribute: which one
    :cvar option: the multiplier, in [pcloud] and in metadata of aggregates
    """

    attribute: str
    option: str

    def weight_multiplier(
        self, host_state: host_manager.HostState,
    ) -> float:
        """Return what the weight of a host is multiplied by."""
        return multiplier(host_state, self.option)

    def weigh_objects(
        self, weighed_obj_list: Sequence[weights.WeighedHost],
        weight_properties: objects.RequestSpec,
    ) -> list[float]:
        """Return the score of each host."""
        return self.scores(host_attributes.of(
            (weighed.obj for weighed in weighed_obj_list), self.attribute))

    @abc.abstractmethod
    def scores(self, values: list[Any]) -> list[float]:
        """Return a score from 0 to 1 for each value of the attribute."""
