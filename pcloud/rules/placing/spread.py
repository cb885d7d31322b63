# SPDX-License-Identifier: Apache-2.0

"""Spread the servers of a project over hosts.

Rule: reference-attributes-owner
"""

from collections.abc import Sequence


def scores(counts: Sequence[int]) -> list[float]:
    """Score hosts: 1.0 for the fewest servers of a project, 0.0 for the most.

    The scores between are linear in the number of servers. Hosts with the same
    number score 1.0.

    :param counts: the number of the project's servers on each host

    Rule: reference-attributes-owner
    """
    most, fewest = max(counts, default=0), min(counts, default=0)
    return [(most - count) / ((most - fewest) or 1) if most > fewest else 1.0
            for count in counts]
