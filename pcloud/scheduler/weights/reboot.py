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

"""Weigh hosts by the date of the next reboot."""

from collections.abc import Sequence
import datetime

from oslo_config import cfg

from pcloud.rules import attributes as rules
from pcloud.scheduler import host_attributes
from pcloud.scheduler.weights import base

CONF = cfg.CONF


class RebootWeigher(base.AttributeWeigher):
    """Prefer hosts that are rebooted later, or not at all.

    Hosts fall into buckets of ``[pcloud] reboot_bucket_days``, counted back
    from the latest date; the buckets with hosts are equally far from each
    other.

    ==================================  =====
    ``next_reboot``                     score
    ==================================  =====
    no date, or a past date             1
    in the last bucket, no host above   1
    in the first bucket                 0
    ==================================  =====

    Rule: reference-attributes-reboot
    """

    attribute = rules.REBOOT
    option = 'reboot_weight_multiplier'

    def value_scores(
        self, values: list[datetime.datetime | None], counts: Sequence[int],
    ) -> list[float]:
        """Return a score from 0 to 1 for each date."""
        return rules.reboot_scores(
            values, host_attributes.now(),
            datetime.timedelta(days=CONF.pcloud.reboot_bucket_days))
