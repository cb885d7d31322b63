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

"""Values that are read once for a request, whoever asks.

Filters and weighers are shared by all requests under way, so the values of a
request are kept with the request.
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
    """The known values of a request; None for a value not yet asked for.

    :ivar policies: the policies of Pcloud, project, domain and cloud, in
        this order
    :ivar settings: the effective machine constraints, by key
    :ivar keys: the placement keys
    :ivar before: ``(service host, node) -> (customer score, number of
        servers)`` for each host, when the first server of the request was
        placed
    :ivar levels: service host -> how far the host is from the place that the
        servers of the request prefer; empty without a preference
    """

    policies: list[scoped_policies.Policy] | None = None
    settings: dict[str, constraints.Setting] | None = None
    keys: CompiledKeys | None = None
    before: dict[tuple[str, str], tuple[Fraction, int]] | None = None
    levels: Mapping[str, int] = dataclasses.field(default_factory=dict)


def of_request(spec: objects.RequestSpec) -> Memo:
    """Return the memo of a request; the first call makes the memo.

    All servers of a multi-create have the same request, and so the same memo.
    The memo is no field of the request: Nova neither copies, sends nor stores
    the memo, so a placement by a copy of a request reads every value anew.
    """
    request_memo = getattr(spec, _ATTRIBUTE, None)
    if request_memo is None:
        request_memo = Memo()
        setattr(spec, _ATTRIBUTE, request_memo)
    return request_memo
