# SPDX-License-Identifier: Apache-2.0

"""Weigh hosts by the class of their hardware."""

from collections.abc import Sequence

from pcloud.rules.placing import attributes
from pcloud.scheduler.weights import base


class HardwareClassWeigher(base.AttributeWeigher):
    """Prefer better hardware, linearly; a host without a class is worst.

    Rule: reference-attributes-hardware
    """

    attribute = attributes.HARDWARE
    option = 'hardware_class_weight_multiplier'

    def value_scores(
        self, values: list[float | None], counts: Sequence[int],
    ) -> list[float]:
        """Return a score from 0 to 1 for each class."""
        return attributes.hardware_scores(values)
