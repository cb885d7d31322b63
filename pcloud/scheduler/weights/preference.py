# SPDX-License-Identifier: Apache-2.0

"""Weigh hosts by the preferences of a request for several servers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from nova import objects
from nova.scheduler import weights

from pcloud.rules.placing import affinity
from pcloud.scheduler import siblings
from pcloud.scheduler.weights import base

_EQUAL = Fraction(0)


class PreferenceWeigher(base.RankWeigher):
    """Prefer the hosts which filters would keep for a single server.

    `LocalityFilter` and `ConstraintsFilter` leave their preferences to this
    weigher for a multi-create only: dropped hosts would be missing when the
    preferred hosts are full. Hosts that servers of the same request have
    filled come last. Where placement keys are in force, `AffinityWeigher`
    applies the preferences too.

    Rule: reference-locality-preference, reference-constraints-filter
    """

    # Above all weighers but the weigher of placement keys; two of Nova's
    # weighers have 1,000,000.
    multiplier = 1e7

    def weigh_objects(
        self, weighed_obj_list: Sequence[weights.WeighedHost],
        weight_properties: objects.RequestSpec,
    ) -> list[int]:
        """Return the rank of each host's levels, 0 for the worst host.

        There is no rank where all hosts are equal.
        """
        standings = siblings.standings(
            weight_properties, [weighed.obj for weighed in weighed_obj_list])
        if len(set(standings)) == 1:
            return []
        return affinity.ranks([(standing, _EQUAL) for standing in standings])
