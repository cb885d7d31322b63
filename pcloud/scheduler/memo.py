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

"""What is read once for a request, whoever asks for it.

Filters and weighers are shared by all requests that are being placed, so
what belongs to one request is kept with the request.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from fractions import Fraction

from nova import objects

from pcloud.objects import scoped_policies
from pcloud.rules import affinity
from pcloud.rules import constraints

_ATTRIBUTE = '_pcloud_memo'


@dataclasses.dataclass(frozen=True)
class CompiledKeys:
    """The placement keys of a request; false when the request has no key.

    :ivar system: compiled system keys, by name
    :ivar customer: compiled customer keys, by name
    """

    system: Mapping[str, affinity.Key]
    customer: Mapping[str, affinity.Key]

    def __bool__(self) -> bool:
        return bool(self.system or self.customer)


@dataclasses.dataclass
class Memo:
    """What is known of a request; None stands for what nobody has asked.

    :ivar policies: the policies of Pcloud, project, domain and cloud, in
        this order
    :ivar settings: the machine constraints that count, by key
    :ivar keys: the placement keys
    :ivar before: what each host, by service host and node, was like when the
        first server of the request was placed: the host's customer score and
        the host's number of servers
    :ivar preferred: the service hosts that the servers of the request prefer
    """

    policies: list[scoped_policies.Policy] | None = None
    settings: dict[str, constraints.Setting] | None = None
    keys: CompiledKeys | None = None
    before: dict[tuple[str, str], tuple[Fraction, int]] | None = None
    preferred: frozenset[str] = frozenset()


def of(spec: objects.RequestSpec) -> Memo:
    """Return the memo of a request, and begin one where there is none.

    All servers of a multi-create have one request, and so one memo. The memo
    is no field of the request: Nova neither copies, sends nor stores the
    memo, so whatever is placed by a copy of a request is read for anew.
    """
    found = getattr(spec, _ATTRIBUTE, None)
    if found is None:
        found = Memo()
        setattr(spec, _ATTRIBUTE, found)
    return found
