# SPDX-License-Identifier: Apache-2.0

"""Scores of hosts by what does not change with the servers of a host.

The scores are the scores of `pcloud.rules.placing.attributes`, weighted as
Nova weighs: normalised among the candidates, and times the multiplier.

Rule: reference-simulation-weights
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from collections.abc import Sequence
import datetime
import functools
from typing import Any
from typing import TypeAlias

from pcloud.rules.placing import attributes
from pcloud_simulator import bits
from pcloud_simulator import fleets
from pcloud_simulator import weight_sets

# Sets of candidates, each with the weight of its hosts.
Parts: TypeAlias = list[tuple[int, float]]
Scores: TypeAlias = Callable[[Sequence[Any]], Sequence[float]]

# Answers of a rule that are kept: candidates seldom change their attributes.
_KEPT = 1024


def _platforms(values: Sequence[str | None]) -> list[float]:
    return attributes.platform_scores([
        None if value is None else attributes.platform(value)
        for value in values])


# Weigher to what it looks at, and its scores before Nova normalises them.
_OF_VALUES: dict[str, tuple[Callable[[fleets.FleetHost], Any], Scores]] = {
    weight_sets.HYPERVISOR: (lambda host: host.version, lambda values: values),
    weight_sets.PLATFORM: (lambda host: host.platform, _platforms),
    weight_sets.HARDWARE: (
        lambda host: host.hardware, attributes.hardware_scores),
}


def normalized(scores: Sequence[float]) -> list[float]:
    """Return scores from 0 to 1 as Nova normalises scores without limits."""
    low, high = min(scores), max(scores)
    return [0.0 if low == high else (score - low) / (high - low)
            for score in scores]


class HostScores:
    """The sum of the weights that do not depend on the servers of a host.

    :param hosts: ordered by `in_order`
    """

    def __init__(
        self, hosts: Sequence[fleets.FleetHost], weights: weight_sets.Weights,
        begin: datetime.datetime, bucket: datetime.timedelta,
    ) -> None:
        self._weighers: list[_ByValue | _ByReboot] = [
            _ByValue(bits.by_value(hosts, value), scores,
                     weights.weight(weigher))
            for weigher, (value, scores) in _OF_VALUES.items()
            if weights.weight(weigher)]
        self._reboots = _ByReboot(
            hosts, begin, bucket, weights.weight(weight_sets.REBOOT))
        if weights.weight(weight_sets.REBOOT):
            self._weighers.append(self._reboots)

    def reboot_passed(self, host: int) -> None:
        """Take note that the date of a host's reboot has passed."""
        self._reboots.passed(host)

    def parts(self, candidates: int) -> Parts:
        """Split candidates into sets of equal weight, the best set first."""
        found = [(candidates, 0.0)]
        for weigher in self._weighers:
            others = weigher.parts(candidates)
            found = [(hosts & others_, weight + more)
                     for hosts, weight in found for others_, more in others
                     if hosts & others_]
        return sorted(found, key=lambda part: -part[1])


def in_order(hosts: Sequence[fleets.FleetHost]) -> list[fleets.FleetHost]:
    """Return hosts by the date of the reboot; hosts without a date first."""
    first = datetime.datetime.min.replace(tzinfo=datetime.UTC)
    return sorted(hosts, key=lambda host: host.reboot or first)


class _ByValue:
    """The weight of a value, for each value that candidates have."""

    def __init__(self, hosts: dict[Any, int], scores: Scores,
                 weight: float) -> None:
        self._hosts = list(hosts.items())

        @functools.lru_cache(_KEPT)
        def weighted(present: tuple[int, ...]) -> list[float]:
            return [weight * score for score in normalized(scores(
                [self._hosts[number][0] for number in present]))]
        self._weights = weighted

    def parts(self, candidates: int) -> Parts:
        present = [(number, both)
                   for number, (_, hosts) in enumerate(self._hosts)
                   if (both := hosts & candidates)]
        weights = self._weights(tuple(number for number, _ in present))
        return [(both, weight) for (_, both), weight
                in zip(present, weights, strict=True)]


class _ByReboot:
    """The weight of a bucket of reboots, for each bucket with candidates.

    There may be as many dates as hosts, so dates are joined into buckets
    before the candidates are looked at. Hosts are ordered by date: the latest
    date is the date of the highest bit, and a bucket is a range of bits.
    """

    def __init__(
        self, hosts: Sequence[fleets.FleetHost], begin: datetime.datetime,
        bucket: datetime.timedelta, weight: float,
    ) -> None:
        self._of_host = [host.reboot for host in hosts]
        self._begin, self._bucket, self._weight = begin, bucket, weight
        # The date and the first bit of each date, the earliest date first.
        first_bits: dict[datetime.datetime, int] = {}
        for number, date in enumerate(self._of_host):
            if date is not None and date > begin:
                first_bits.setdefault(date, number)
        self._dates = list(first_bits)
        self._first_bits = [*first_bits.values(), len(hosts)]
        self._coming = _range(self._first_bits[0], len(hosts))
        self._buckets = functools.lru_cache(_KEPT)(self._all_buckets)
        self._weights = functools.lru_cache(_KEPT)(self._weighted)

    def passed(self, host: int) -> None:
        self._coming &= ~(1 << host)

    def parts(self, candidates: int) -> Parts:
        coming = candidates & self._coming
        if not coming:
            return [(candidates, 0.0)]
        latest = self._of_host[coming.bit_length() - 1]
        present = [(date, both) for date, hosts in self._buckets(latest)
                   if (both := hosts & coming)]
        if candidates != coming:
            present.append((None, candidates ^ coming))
        weights = self._weights(tuple(date for date, _ in present))
        return [(both, weight) for (_, both), weight
                in zip(present, weights, strict=True)]

    def _scores(
        self, dates: Sequence[datetime.datetime | None],
    ) -> list[float]:
        return attributes.reboot_scores(dates, self._begin, self._bucket)

    def _all_buckets(
        self, latest: datetime.datetime,
    ) -> list[tuple[datetime.datetime | None, int]]:
        """Return the latest date and the hosts of each bucket.

        The first date of a bucket is searched for, since the rule is asked
        about few dates that way.
        """
        found: list[tuple[datetime.datetime | None, int]] = []
        end = bisect.bisect_right(self._dates, latest)
        while end:
            last = self._dates[end - 1]

            def alike(
                number: int, last: datetime.datetime = last,
            ) -> bool:
                one, other, _ = self._scores(
                    [self._dates[number], last, latest])
                return one == other
            start = bisect.bisect_left(range(end), True, key=alike)
            found.append((last, _range(
                self._first_bits[start], self._first_bits[end])))
            end = start
        return found

    def _weighted(
        self, dates: tuple[datetime.datetime | None, ...],
    ) -> list[float]:
        return [self._weight * score
                for score in normalized(self._scores(dates))]


def _range(first: int, end: int) -> int:
    """Return the hosts from a first number to before an end."""
    return (1 << end) - (1 << first)
