# SPDX-License-Identifier: Apache-2.0

"""Weigh hosts by the date of the next reboot."""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Sequence
import datetime

from nova import objects
from nova.scheduler import host_manager
from oslo_config import cfg

from pcloud.rules.placing import attributes
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

    attribute = attributes.REBOOT
    option = 'reboot_weight_multiplier'

    def grouped(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> tuple[list[int], list[datetime.datetime | None]]:
        """Return the dates of hosts, with maintenances to come."""
        return host_attributes.reboots(host_states, spec)

    def value_scores(
        self, values: list[datetime.datetime | None], counts: Sequence[int],
    ) -> list[float]:
        """Return a score from 0 to 1 for each date."""
        return attributes.reboot_scores(
            values, host_attributes.now(),
            datetime.timedelta(days=CONF.pcloud.reboot_bucket_days))
