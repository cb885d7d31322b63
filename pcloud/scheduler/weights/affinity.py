# SPDX-License-Identifier: Apache-2.0

"""Weigh hosts by the affinity algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from nova import objects
from nova.scheduler import weights
from oslo_config import cfg

from pcloud.rules.placing import affinity
from pcloud.scheduler import affinity_scores
from pcloud.scheduler import request_keys
from pcloud.scheduler import siblings
from pcloud.scheduler.weights import base

CONF = cfg.CONF


class AffinityWeigher(base.RankWeigher):
    """Order hosts by round, and within a round by the customer's score.

    ====================  ==========================================
    hosts                 order
    ====================  ==========================================
    of different levels   first the hosts which filters would keep for
                          a single server, as in `PreferenceWeigher`
    of different rounds   the earlier round first
    of the same round     the higher customer score first
    of the same score     equal: other weighers decide, then chance
    ====================  ==========================================

    A request without any key is left to the other weighers.

    Rule: reference-placement-keys-rounds
    """

    # A rank is worth more than all other weighers together, two of which
    # have 1,000,000 by default in Nova.
    multiplier = 1e8

    def weigh_objects(
        self, weighed_obj_list: Sequence[weights.WeighedHost],
        weight_properties: objects.RequestSpec,
    ) -> list[int]:
        """Return the rank of each host, 0 for the worst.

        There is no rank where all hosts are equal.
        """
        hosts = [weighed.obj for weighed in weighed_obj_list]
        wished = request_keys.compiled(weight_properties, hosts)
        if not wished:
            return []
        numbers = affinity_scores.rounds(hosts, wished)
        # Without the filter there may be hosts that are in no round.
        last = CONF.pcloud.msav_steps
        customer = affinity_scores.customer(hosts, weight_properties, wished)
        levels = siblings.standings(weight_properties, hosts)
        return base.telling_apart(affinity.ranks([
            ((*level, last if number is None else number), score)
            for level, number, score in zip(
                levels, numbers, customer, strict=True)]))
