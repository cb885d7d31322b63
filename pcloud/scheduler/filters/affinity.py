# SPDX-License-Identifier: Apache-2.0

"""The filter of the affinity algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from fractions import Fraction
import itertools
import random

from nova import objects
from nova.scheduler import host_manager

from pcloud.rules import coded
from pcloud.rules.placing import affinity
from pcloud.rules.placing import reasons
from pcloud.scheduler import affinity_scores
from pcloud.scheduler.filters import base
from pcloud.scheduler import request_keys


class AffinityFilter(base.ListFilter):
    """Drop hosts whose system score exceeds no round's threshold.

    `AffinityWeigher` orders the hosts by round: the hosts kept for the first
    server of a multi-create are the only hosts for all its servers, and the
    hosts of an early round fill up.

    Rule: reference-placement-keys-rounds
    """

    def passing_hosts(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Sequence[host_manager.HostState]:
        """Return the hosts that the administrator accepts for the request.

        The hosts come in a random order: Nova takes the first of several hosts
        which all weighers find equal, and by the rule chance decides. A
        request without any key may have all hosts.

        What the server keeps of sticky keys is recorded here, since Nova asks
        weighers only about several hosts.
        """
        wished = request_keys.compiled(spec, host_states)
        request_keys.record_offers(spec, host_states)
        if not wished:
            return host_states
        hosts = [*itertools.compress(
            host_states, affinity_scores.in_rounds(host_states, wished))]
        # For thousands of hosts this is faster than random.shuffle.
        hosts.sort(key=lambda host_state: random.random())
        return hosts

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None for a host that is kept."""
        wished = request_keys.compiled(spec, host_states)
        if not wished:
            return [None] * len(host_states)
        return [None if is_in else _reason(score, parts)
                for is_in, score, parts in zip(
                    affinity_scores.in_rounds(host_states, wished),
                    affinity_scores.system(host_states, wished),
                    affinity_scores.parts(host_states, wished), strict=True)]


def _reason(
    score: Fraction, parts: Mapping[str, Fraction],
) -> reasons.Reason:
    """Return why a host is in no round.

    :param parts: ``name of a key -> what the key adds to the score``
    """
    thresholds = affinity_scores.thresholds()
    first, last = float(thresholds[0]), float(thresholds[-1])
    return reasons.Reason(
        'its system score exceeds none of the thresholds, which are from '
        f'{first:g} to {last:g}',
        coded.Reason('keys_keep_away'),
        ': '.join(filter(None, (
            f'its score is {float(score):g}',
            ', '.join(f'{affinity.in_words(name)} {float(added):g}'
                      for name, added in parts.items())))))
