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

"""Read one column of very many rows.

A database driver in Python takes longer for a row than for the values of the
row, so the database joins the values of many rows into one string.
"""

from collections.abc import Sequence
import functools

import sqlalchemy as sa
from sqlalchemy import orm

_SEPARATOR = '\n'
# At most 4096 rows make one string. MariaDB cuts strings short at
# group_concat_max_len, by default 1 MiB, which so many names do not reach.
_BITS = 12


def distinct(
    session: orm.Session, column: orm.InstrumentedAttribute,
    id_: orm.InstrumentedAttribute, *criteria: sa.ColumnElement[bool],
) -> frozenset[str]:
    """Return the different values of a column of text.

    One query, and another query where the database cut a string short, as
    MySQL does by default, or a value has a line break. Values with different
    letter case are different values, whatever the collation of the database.

    :param column: a column of at most 255 characters
    :param id_: the column with the number of the row
    :param criteria: the rows to read
    """
    pieces = session.execute(
        sa.select(sa.func.aggregate_strings(column, _SEPARATOR),
                  sa.func.count(column),
                  sa.func.sum(sa.func.char_length(column)))
        .where(*criteria).group_by(id_.bitwise_rshift(_BITS))).all()
    values = _values(tuple(tuple(piece) for piece in pieces))
    if values is None:
        return frozenset(session.scalars(
            sa.select(column).where(column.is_not(None), *criteria)))
    return values


# From one request to the next the values are mostly the same.
@functools.lru_cache(maxsize=2)
def _values(
    pieces: Sequence[tuple[str | None, int, int | None]],
) -> frozenset[str] | None:
    """Split strings into values; None when a string is not as expected.

    :param pieces: a string, the number of values in the string, and the number
        of characters of the values
    """
    union: set[str] = set()
    for text, count, length in pieces:
        if not count:
            # Rows without a value; to leave them out in the query is slow.
            continue
        if text is None or length is None:
            return None
        values = text.split(_SEPARATOR)
        if len(values) != count or len(text) != length + count - 1:
            return None
        union.update(values)
    return frozenset(union)
