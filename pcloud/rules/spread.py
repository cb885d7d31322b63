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
