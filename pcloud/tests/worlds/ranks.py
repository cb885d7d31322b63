# SPDX-License-Identifier: Apache-2.0
"""Values as text, in which numbers and names are left that decide.

Times, generations of resource providers, marks of changes and names that are
drawn at random differ from way to way. What the code asks of these values does
not: the order of times, which generation is the newest, the newest mark of an
anchor, and which names are equal.
"""

from collections.abc import Collection
import datetime
import json
import re

import sqlalchemy as sa

_TIME = re.compile(
    r'\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?|\b\d{8}T\d{6}Z')

# The generations of resource providers in Placement, see `spread`.
_COUNT = re.compile(r'\b[1-9]0{3}\d{9}\b')
_SPREAD = 10**12
# The marks of an anchor in the journal, as a row of the database.
_MARKS = re.compile(r'("pcloud:changes:[^"]*", "[0-9a-f]+)[ 0-9a-f]*')
_NAME = re.compile(
    r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
    r'|\b[0-9a-f]{12,64}\b')


def plain(value: object) -> str:
    """Return a value as text, without what decides nothing.

    Of two times the code asks which time is earlier. A generation is compared
    with the present generation of the same resource provider, which is the
    greatest, and grows with each write; so an older generation stays an older
    one. Marks before the newest mark of an anchor matter when the answer to a
    commit gets lost, and no answer gets lost in a small world.

    :param value: holds the rows of all resource providers, if any generation
    """
    text = json.dumps(value, default=str, sort_keys=True)
    times = {each: _seconds(each) for each in _TIME.findall(text)}
    ranks = {seconds: rank for rank, seconds
             in enumerate(sorted(set(times.values())))}
    text = _TIME.sub(lambda match: f'time {ranks[times[match[0]]]}', text)
    newest = {each[0]: each for each in sorted(_COUNT.findall(text))}
    text = _COUNT.sub(
        lambda match: f'{match[0][0]}:'
        f'{"newest" if match[0] in newest.values() else "older"}', text)
    return _MARKS.sub(r'\1', text)


def spread(connection: sa.Connection) -> None:
    """Have generations of different resource providers never be equal."""
    connection.execute(sa.text(
        'UPDATE resource_providers SET generation = generation + id * '
        f'{_SPREAD}'))


def numbered(text: str, names: Collection[str]) -> str:
    """Replace drawn names by numbers, in the order of the text."""
    numbers: dict[str, int] = {}

    def number(match: re.Match) -> str:
        name = match[0]
        if name not in names:
            return name
        return f'name {numbers.setdefault(name, len(numbers))}'

    return _NAME.sub(number, text)


def _seconds(text: str) -> float:
    return datetime.datetime.fromisoformat(text).replace(
        tzinfo=datetime.timezone.utc).timestamp()
