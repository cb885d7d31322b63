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

"""Hide hints in Nova's answers from callers who may not see the hints.

A list of a thousand servers is a body of a million bytes, and every server has
recorded hints. To parse such a body takes as long as Nova takes for dozens of
servers, so the recorded hints are cut out of the text; the body is parsed only
when the text is not written as Nova writes it.

Rule: reference-isolation-shown
"""

from collections.abc import Callable
from collections.abc import Iterator
import json
import re

from pcloud import exception
from pcloud.rules import constraints
from pcloud.rules import hints as hint_rules

_MARK = f'"{hint_rules.RECORD_PREFIX}'.encode()
# The constraint that names a host. Other words with the same end only cost
# time.
_HOST = f'{constraints.HOST}='.encode()
# The member of a server in an answer.
_SHOWN_HINTS = 'scheduler_hints'

# A quotation mark that no backslash precedes begins or ends a string, and no
# name follows the end of a string. So nothing that a user writes into a name
# or a value looks like a member.
_TEXT = rb'"(?:[^"\\]|\\.)*"'
_RECORD = re.compile(
    re.escape(_MARK) + rb'[a-z_]*": \[(?:' + _TEXT +
    rb'(?:, ' + _TEXT + rb')*)?\]')
_BACKSLASH, _COMMA = b'\\', b', '


def without_records(body: bytes) -> bytes:
    """Return the body of an answer without the hints that nova-api recorded.

    :param body: JSON; a body without records is returned as it is
    """
    if _MARK not in body:
        return body
    cut = b''.join(_kept(body))
    return _changed(cut, _drop_records) if _MARK in cut else cut


def _kept(body: bytes) -> Iterator[bytes]:
    """Yield the parts of a body between the recorded hints."""
    begin, mark = 0, body.find(_MARK)
    while mark >= 0:
        record = _RECORD.match(body, mark)
        if record and body[mark - 1:mark] != _BACKSLASH:
            end = record.end()
            # The comma goes too, whether the member is the first or the last.
            if body.endswith(_COMMA, begin, mark):
                mark -= len(_COMMA)
            elif body.startswith(_COMMA, end):
                end += len(_COMMA)
            yield body[begin:mark]
            begin = mark = end
        else:
            mark += 1
        mark = body.find(_MARK, mark)
    yield body[begin:]


def may_name_host(body: bytes) -> bool:
    """Whether a hint in the body of an answer may name a real host."""
    return _HOST in body


def without_hosts(body: bytes) -> bytes:
    """Return the body of an answer without real hosts in constraints.

    :param body: JSON
    """
    return _changed(body, _hide_host)


def _changed(body: bytes, change: Callable[[dict], None]) -> bytes:
    document = json.loads(body)
    for hints in _all_hints(document):
        change(hints)
    return json.dumps(document).encode()


def _all_hints(document: object) -> Iterator[dict]:
    """Yield the hints of all servers in an answer's body."""
    if isinstance(document, list):
        for member in document:
            yield from _all_hints(member)
    elif isinstance(document, dict):
        for name, value in document.items():
            if name == _SHOWN_HINTS and isinstance(value, dict):
                yield value
            else:
                yield from _all_hints(value)


def _drop_records(hints: dict) -> None:
    for name in list(filter(hint_rules.is_record, hints)):
        del hints[name]


def _hide_host(hints: dict) -> None:
    """Remove the ``host`` constraint from hints."""
    try:
        asked = constraints.parse(hint_rules.constraints(hints))
    except exception.Invalid:
        # The hint is older than the rules, and names no host that counts.
        return
    if asked.pop(constraints.HOST, None) is not None:
        hints[hint_rules.CONSTRAINTS] = [constraints.text(asked)]
