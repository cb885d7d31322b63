# SPDX-License-Identifier: Apache-2.0

"""Choose free hosts: chance and candidates come in, hosts come out."""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import random


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A host of a pool, as far as choosing is concerned.

    :ivar host: the service host
    :ivar zone: the host's availability zone
    :ivar up: whether the host's compute service reports
    :ivar enabled: whether the host's compute service is enabled
    :ivar allocated: whether the host is in a Pcloud already
    """

    host: str
    zone: str
    up: bool
    enabled: bool
    allocated: bool

    @property
    def free(self) -> bool:
        """Whether the host may be given to a Pcloud."""
        return self.up and self.enabled and not self.allocated


@dataclasses.dataclass(frozen=True)
class Zones:
    """The availability zones whose hosts will do.

    ==========  ===========  ========  ====
    asked for   others wait  zone of   will
                for          the host  do
    ==========  ===========  ========  ====
    any         none         a         yes
    any         a            a         no
    any         a            b         yes
    a           none         a         yes
    a           none         b         no
    ==========  ===========  ========  ====

    :ivar wanted: the zone asked for, None for any
    :ivar waited_for: ``zone -> how many wait for hosts of it``
    """

    wanted: str | None = None
    waited_for: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def allow(self, zone: str) -> bool:
        """Whether the hosts of a zone will do."""
        return self.wanted in (None, zone) and zone not in self.waited_for


def choose(
    candidates: Iterable[Candidate],
    zones: Zones,
    avoid: Iterable[str],
    count: int,
    chance: random.Random,
) -> list[Candidate]:
    """Choose some free hosts at random.

    Random choice keeps requests from colliding.

    :param candidates: the hosts of the pool
    :param zones: where the hosts may be
    :param avoid: hosts tried already; such a host is taken again only when no
        other is left, because the cause of the failure may have passed
    :param count: how many hosts to choose
    :param chance: where the randomness comes from
    :returns: the hosts, or all free hosts where fewer are free

    Rule: reference-allocation-choice
    """
    free = sorted((candidate for candidate in candidates
                   if candidate.free and zones.allow(candidate.zone)),
                  key=lambda candidate: candidate.host)
    avoided = set(avoid)
    chosen: list[Candidate] = []
    for alike in (
            [each for each in free if each.host not in avoided],
            [each for each in free if each.host in avoided]):
        chosen += chance.sample(
            alike, min(count - len(chosen), len(alike)))
    return chosen
