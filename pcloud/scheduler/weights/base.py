# SPDX-License-Identifier: Apache-2.0

"""The common bases of Pcloud's weighers."""

from __future__ import annotations

import abc
import collections
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import math
from typing import Any
from typing import TypeVar

from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import utils
from nova.scheduler import weights
from oslo_config import cfg

from pcloud.scheduler import host_attributes
from pcloud.scheduler import siblings

CONF = cfg.CONF
# The attribute of a host with a multiplier, before the name of the option.
_KEPT = '_pcloud_'

_Number = TypeVar('_Number', int, float)


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


def among_equals(
    host_states: Sequence[host_manager.HostState],
    spec: objects.RequestSpec, kinds: Sequence[int],
    scores: Callable[[Sequence[int], Sequence[int]], list[float]],
) -> list[float]:
    """Return the scores of hosts, each among the hosts that stand as high.

    A server that comes alone is neither offered full hosts nor hosts that
    filters drop for better hosts, so these hosts change no other host's score.
    Hosts that are all of one kind have one score, however the hosts stand.

    :param kinds: the kind of each host; hosts of a kind have equal scores
    :param scores: returns the score of each of some different kinds, from
        these kinds and the number of hosts of each kind
    """
    if len(set(kinds)) == 1 or not siblings.are_several(spec):
        known = _of_kinds(kinds, scores)
        return [known[kind] for kind in kinds]
    standings = siblings.standings(spec, host_states)
    groups = collections.defaultdict(list)
    for kind, standing in zip(kinds, standings, strict=True):
        groups[standing].append(kind)
    of_groups = {standing: _of_kinds(group, scores)
                 for standing, group in groups.items()}
    return [of_groups[standing][kind]
            for kind, standing in zip(kinds, standings, strict=True)]


def _of_kinds(
    kinds: Iterable[int],
    scores: Callable[[Sequence[int], Sequence[int]], list[float]],
) -> dict[int, float]:
    """Return ``kind -> score`` for the kinds of some hosts."""
    counts = collections.Counter(kinds)
    return dict(zip(counts, scores([*counts], [*counts.values()]),
                    strict=True))


def telling_apart(scores: list[_Number]) -> list[_Number]:
    """Return the scores of hosts, or none where all hosts have the same.

    Equal scores weigh nothing in Nova. Without scores Nova is spared a weight
    for each host, which takes longer than the scores.

    Rule: reference-attributes-scores
    """
    return scores if len(set(scores)) > 1 else []


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


class ScoreWeigher(ListWeigher):
    """Weigh hosts by scores from 0 to 1, times a multiplier.

    Scores depend on all hosts, so Nova's own normalising changes nothing:
    where scores differ, the lowest score is 0 and the highest score is 1.

    :cvar option: the multiplier, in [pcloud] and in metadata of aggregates
    """

    option: str

    def weight_multiplier(
        self, host_state: host_manager.HostState,
    ) -> float:
        """Return the multiplier for the weight of a host.

        Nova asks for the multiplier of each host, after `weigh_objects` has
        found the multipliers of all hosts. A multiplier holds for one request:
        the host's aggregates may change.
        """
        known = vars(host_state).pop(_KEPT + self.option, None)
        return multiplier(host_state, self.option) if known is None else known

    def weigh_objects(
        self, weighed_obj_list: Sequence[weights.WeighedHost],
        weight_properties: objects.RequestSpec,
    ) -> list[float]:
        """Return the score of each host, or none where hosts are equal.

        A multiplier is kept with its host, since a weigher is shared by all
        requests under way.
        """
        hosts = [weighed.obj for weighed in weighed_obj_list]
        kinds, multipliers = self._multipliers(hosts)
        if not any(multipliers.values()):
            return []
        scores = telling_apart(self.scores(hosts, weight_properties))
        if scores:
            attribute = _KEPT + self.option
            for host_state, kind in zip(hosts, kinds, strict=True):
                setattr(host_state, attribute, multipliers[kind])
        return scores

    def _multipliers(
        self, host_states: Sequence[host_manager.HostState],
    ) -> tuple[list[int], dict[int, float]]:
        """Return the kind of each host, and the multiplier of each kind.

        The aggregates of all hosts are looked at once.
        """
        stating = [aggregate for aggregate
                   in host_attributes.aggregates(host_states)
                   if self.option in aggregate.metadata]
        if not stating:
            return [0] * len(host_states), {0: CONF.pcloud[self.option]}
        kinds, _ = host_attributes.by_aggregates(host_states, stating)
        return kinds, {kind: multiplier(host_state, self.option)
                       for kind, host_state in dict(
                           zip(kinds, host_states, strict=True)).items()}

    @abc.abstractmethod
    def scores(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[float]:
        """Return a score from 0 to 1 for each host."""


class AttributeWeigher(ScoreWeigher):
    """Weigh hosts by an attribute of the hosts.

    :cvar attribute: the name of the attribute
    """

    attribute: str

    def scores(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[float]:
        """Return the score of each host's value."""
        kinds, values = self.grouped(host_states, spec)
        return among_equals(
            host_states, spec, kinds, lambda some, counts: self.value_scores(
                [values[kind] for kind in some], counts))

    def grouped(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> tuple[list[int], list[Any]]:
        """Return the values of hosts, as `host_attributes.grouped`."""
        return host_attributes.grouped(host_states, self.attribute)

    @abc.abstractmethod
    def value_scores(
        self, values: list[Any], counts: Sequence[int],
    ) -> list[float]:
        """Return a score from 0 to 1 for each value of the attribute.

        :param counts: for each value, how many hosts have the value
        """
