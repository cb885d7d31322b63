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

"""Read what a server request asks of Pcloud from its scheduler hints."""

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence

from pcloud import exception
from pcloud.rules import text
from pcloud.rules import uuids

PCLOUD_HINT = 'pcloud'
PLACEMENT_KEY = 'placement_key'
CONSTRAINTS = 'constraints'


def check_text(hints: Mapping[str, object], names: Collection[str]) -> None:
    """Refuse text that no database can keep, in hints of these names.

    Nova could not even write down why such a server has no host.

    :raises: `exception.InvalidHintText`
    """
    for name in names:
        values = hints.get(name)
        for each in values if isinstance(values, list) else [values]:
            if isinstance(each, str) and not text.is_encodable(each):
                raise exception.InvalidHintText(name=name, value=each)


def is_pcloud_id(value: object) -> bool:
    """Whether `value` has the form of a Pcloud's id."""
    return uuids.is_uuid(value)


def pcloud_id(hints: Mapping[str, Sequence[str]] | None) -> str | None:
    """Return the id of the Pcloud that a request asks for.

    :param hints: the request's scheduler hints, each a list of values as in
        ``RequestSpec.scheduler_hints``, or None
    :returns: the id, or None when there is no such hint
    :raises: `exception.InvalidHint` when the hint is there and is anything
        but one well-formed id. An empty list is a hint too: somebody meant
        a Pcloud, so nothing outside of one will do.

    Source: CONTRACT section 2, rule 3.
    """
    if not hints or PCLOUD_HINT not in hints:
        return None
    values = hints[PCLOUD_HINT]
    if isinstance(values, str):
        values = [values]
    if not values or len(values) != 1 or not is_pcloud_id(values[0]):
        shown = values if values is None else ','.join(map(str, values))
        raise exception.InvalidHint(value=shown)
    return values[0]


def constraints(hints: Mapping[str, Sequence[str]] | None) -> str:
    """Return the machine constraints that a request asks for, '' if none.

    :raises: `exception.RepeatedConstraints` when the hint is given several
        times, or is no text

    Source: CONTRACT section 5.
    """
    if not hints or CONSTRAINTS not in hints:
        return ''
    values = hints[CONSTRAINTS]
    if not isinstance(values, list):
        values = [values]
    if len(values) != 1 or not isinstance(values[0], str):
        raise exception.RepeatedConstraints()
    return values[0]
