# SPDX-License-Identifier: Apache-2.0

"""The scheduler's weighers, each by itself.

Nova writes the weights to a log and returns sums; here the parts of the sums
are kept, made with the same functions.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Sequence
import dataclasses

from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import weights as host_weights
from nova import weights as nova_weights
from oslo_config import cfg

from pcloud.explain import loading

CONF = cfg.CONF


@dataclasses.dataclass(frozen=True)
class Score:
    """The score of a host by a weigher.

    :ivar raw: the score as returned by the weigher
    :ivar normalised: the score scaled to the range from 0 to 1 among all
        hosts, unless the weigher has a fixed range
    """

    weigher: str
    raw: float
    normalised: float
    multiplier: float

    @property
    def weight(self) -> float:
        """The score's part of the host's sum."""
        return self.multiplier * self.normalised


@dataclasses.dataclass(frozen=True)
class Weighed:
    """A host with its scores, in the order of the weighers."""

    host_state: host_manager.HostState
    scores: tuple[Score, ...]

    @property
    def total(self) -> float:
        """The sum of the host's weights, added in Nova's order."""
        return sum((score.weight for score in self.scores), 0.0)


def load() -> tuple[list[nova_weights.BaseWeigher], dict[str, str]]:
    """Load the weighers of ``[filter_scheduler] weight_classes``.

    :returns: the weighers; and ``weigher -> reason`` for each weigher which
        this process cannot load
    """
    classes, broken = loading.classes(
        host_weights.HostWeightHandler(),
        CONF.filter_scheduler.weight_classes)
    made, failed = loading.instances(classes)
    return made, broken | failed


def weigh(
    weighers: Sequence[nova_weights.BaseWeigher],
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> list[Weighed]:
    """Weigh hosts, and return the best first; equal hosts keep their order.

    A single host is not weighed, as in Nova.
    """
    if len(host_states) < 2:
        return [Weighed(host_state, ()) for host_state in host_states]
    given = [host_weights.WeighedHost(host_state, 0.0)
             for host_state in host_states]
    columns = []
    for weigher in weighers:
        # A weigher that tells no hosts apart may return nothing.
        raw = list(weigher.weigh_objects(given, spec)) or [0.0] * len(given)
        columns.append([
            Score(type(weigher).__name__, *scores) for scores in zip(
                raw, nova_weights.normalize(
                    raw, minval=weigher.minval, maxval=weigher.maxval),
                map(weigher.weight_multiplier, host_states), strict=True)])
    rows = zip(*columns, strict=True) if columns else [()] * len(given)
    ranking = [Weighed(host_state, tuple(scores)) for host_state, scores
               in zip(host_states, rows, strict=True)]
    return sorted(ranking, key=lambda weighed: weighed.total, reverse=True)
