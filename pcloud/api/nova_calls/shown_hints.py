# SPDX-License-Identifier: Apache-2.0

"""Hide hints in Nova's answers from callers who may not see the hints.

A list of a thousand servers is a body of a million bytes, and every server has
recorded hints. To parse such a body takes as long as Nova takes for dozens of
servers, so only the texts of hints are looked at, and each text once. The body
is parsed when the text is not written as Nova writes it.

Rule: reference-isolation-shown
"""

from collections.abc import Callable
from collections.abc import Iterator
import functools
import json
import re

from pcloud import exception
from pcloud.rules.placing import constraints
from pcloud.rules.placing import hints as hint_rules

# The member of a server in an answer.
_SHOWN_HINTS = 'scheduler_hints'

# Within a string JSON has a backslash before every quotation mark. So the
# second mark ends a string whatever users write into names and values, and no
# member of this name is written in another way: Nova escapes no letters.
_MEMBER = f'"{_SHOWN_HINTS}"'.encode()
_OBJECT, _END, _BACKSLASH, _COMMA = b': {', b'}', b'\\', b', '
_OTHER_OBJECT = re.compile(rb'\s*:\s*\{')
_RECORD = f'"{hint_rules.RECORD_PREFIX}'.encode()
# The constraint that names a host. Other words with the same end only cost
# time.
_HOST = f'{constraints.HOST}='.encode()


def without_secrets(
    body: bytes, may_see_hosts: Callable[[], bool],
) -> bytes:
    """Return the body of an answer without hints that the caller may not see.

    The hints that nova-api recorded are for nobody.

    :param body: JSON; the same body is returned when nothing is hidden
    :param may_see_hosts: whether the caller may see real hosts that
        constraints name; asked when a constraint names a host
    :raises: `ValueError` for a body with hints that is no JSON
    """
    start = body.find(_MEMBER)
    if start < 0:
        return body
    hide = functools.partial(_hide, functools.cache(may_see_hosts))
    try:
        return _replaced(body, start, _Texts(hide).shown)
    except ValueError:
        return _parsed(body, hide)


def _replaced(
    body: bytes, start: int, shown: Callable[[bytes], bytes],
) -> bytes:
    """Return a body with some hints replaced.

    :param start: where the first member begins
    :param shown: returns what takes the place of a text, from a member's name
        to the end of the first object
    :raises: `ValueError` when there is no such end, and as `shown`
    """
    text = body[start + len(_MEMBER):body.index(_END, start) + len(_END)]
    # Where the byte before is no backslash, each of these is a member.
    head = body[start - 1:start] + _MEMBER
    if head.startswith(_BACKSLASH):
        return _each_replaced(body, shown)
    new, members = shown(text), body.count(_MEMBER)
    # To make a copy of the body takes a while, and so does each search.
    if new == text:
        if body.count(head + text) == members:
            return body
    elif len(others := body.split(head + text)) == members + 1:
        return (head + new).join(others)
    return _each_replaced(body, shown)


def _each_replaced(body: bytes, shown: Callable[[bytes], bytes]) -> bytes:
    """Return a body with some hints replaced, as `_replaced`.

    The texts of hints are not all the same.
    """
    first, *rest = body.split(_MEMBER)
    texts = [part[:part.index(_END) + len(_END)] for part in rest]
    # Servers that are listed together mostly have the same hints.
    new = {text: shown(text) for text in set(texts)}
    if all(text == its_new for text, its_new in new.items()):
        return body
    return _MEMBER.join([first, *(
        part if before.endswith(_BACKSLASH) else new[text] + part[len(text):]
        for before, part, text in zip([first, *rest], rest, texts))])


class _Texts:
    """What is shown of the texts of hints.

    Servers that are listed together mostly have the same records, so that each
    text of records is parsed once.

    :param hide: changes the hints of a server
    """

    def __init__(self, hide: Callable[[dict], None]) -> None:
        self._hide = hide
        self._are_records = functools.cache(_are_records)

    def shown(self, written: bytes) -> bytes:
        """Return what is shown of a text.

        :param written: from the end of the name to the end of an object, which
            is the whole value when the text is JSON
        :raises: `ValueError` when the text does not tell the whole value
        """
        if not written.startswith(_OBJECT):
            if _OTHER_OBJECT.match(written):
                raise ValueError(written)
            return written
        given, mark, records = written.partition(_RECORD)
        if _is_plain(given):
            if not mark:
                return written
            kept = given.removesuffix(_COMMA)
            if kept.endswith((b'{', b']')) and self._are_records(
                    mark + records):
                return kept + _END
        hints = json.loads(written.removeprefix(b': '))
        self._hide(hints)
        return b': ' + json.dumps(hints).encode()


def _is_plain(text: bytes) -> bool:
    """Whether the beginning of an object hides nothing, and is no riddle.

    No string is cut in two, and all members are the object's own. What follows
    is the object's end, or the next name or value.
    """
    return not (_BACKSLASH in text or text.count(b'"') % 2 or
                text.count(b'{') > 1 or _HOST in text)


def _are_records(text: bytes) -> bool:
    """Whether a text holds records only, up to the end of the object."""
    try:
        return all(map(hint_rules.is_record, json.loads(b'{' + text)))
    except ValueError:
        return False


def _parsed(body: bytes, hide: Callable[[dict], None]) -> bytes:
    """Return a body with changed hints, whatever the body looks like."""
    document = json.loads(body)
    for hints in _all_hints(document):
        hide(hints)
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


def _hide(may_see_hosts: Callable[[], bool], hints: dict) -> None:
    """Remove records from hints, and a ``host`` constraint where needed."""
    for name in list(filter(hint_rules.is_record, hints)):
        del hints[name]
    try:
        asked = constraints.parse(hint_rules.constraints(hints))
    except exception.Invalid:
        # A hint that Pcloud has not checked names no host that counts.
        return
    if asked.pop(constraints.HOST, None) is not None and not may_see_hosts():
        hints[hint_rules.CONSTRAINTS] = [constraints.text(asked)]
