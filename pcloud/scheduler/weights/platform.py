# SPDX-License-Identifier: Apache-2.0

"""Weigh hosts by the version of their platform."""

from collections.abc import Sequence

from pcloud.rules.placing import attributes
from pcloud.scheduler.weights import base


class PlatformWeigher(base.AttributeWeigher):
    """Prefer a newer platform, so that older platforms are drained over time.

    ====================  ===========  ===========
    ``platform_version``  score        score
                          (stamps)     (versions)
    ====================  ===========  ===========
    newest                1            1
    between               by time      by rank
    oldest, or none       0            0
    ====================  ===========  ===========

    Rule: reference-attributes-platform
    """

    attribute = attributes.PLATFORM
    option = 'platform_weight_multiplier'

    def value_scores(
        self, values: list[attributes.Platform | None], counts: Sequence[int],
    ) -> list[float]:
        """Return a score from 0 to 1 for each platform."""
        return attributes.platform_scores(values, counts)
