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

"""Weigh hosts by the class of their hardware."""

from collections.abc import Sequence

from pcloud.rules import attributes as rules
from pcloud.scheduler.weights import base


class HardwareClassWeigher(base.AttributeWeigher):
    """Prefer better hardware, linearly; a host without a class is worst.

    Rule: reference-attributes-hardware
    """

    attribute = rules.HARDWARE
    option = 'hardware_class_weight_multiplier'

    def value_scores(
        self, values: list[float | None], counts: Sequence[int],
    ) -> list[float]:
        """Return a score from 0 to 1 for each class."""
        return rules.hardware_scores(values)
