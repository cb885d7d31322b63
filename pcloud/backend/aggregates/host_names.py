# SPDX-License-Identifier: Apache-2.0

"""Many names of hosts, written into a statement and read at once.

A driver and SQLAlchemy in Python take longer for each name than the database.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy import orm


class Names(sa.types.UserDefinedType):
    """Names that are written into a statement as one list.

    A thousand parameters, or literals of SQLAlchemy, take longer in Python
    than in the database.
    """

    cache_ok = True

    def literal_processor(
        self, dialect: sa.Dialect,
    ) -> Callable[[Iterable[str]], str]:
        """Return a function that writes names, at least one, as a list."""
        quoted = sa.String().literal_processor(dialect)
        return lambda each: f"({','.join(map(quoted, each))})"


def joined(statement: sa.Select) -> sa.Select:
    """Return a statement that joins selected names of hosts into one string.

    A driver in Python takes longer for each row than for the whole string.
    """
    host, = statement.selected_columns
    # MySQL cuts strings short at 1 KiB unless told otherwise, MariaDB at 1 MiB
    # (and takes the hint for a comment).
    return statement.with_only_columns(
        sa.func.aggregate_strings(host, '\n'), sa.func.count(host),
        sa.func.sum(sa.func.length(host)),
    ).prefix_with('/*+ SET_VAR(group_concat_max_len = 1073741824) */',
                  dialect='mysql')


def read(
    connection: orm.Session | sa.Connection, statement: sa.Select,
    in_one: sa.Select, parameters: Mapping[str, Collection[str]],
) -> frozenset[str]:
    """Return the service hosts that a statement selects.

    One query. Where the database has cut the string short, or a name is not of
    ASCII, another query reads row after row.

    :param in_one: the statement as `joined`
    """
    text, count, length = connection.execute(in_one, parameters).one()
    if not count:
        return frozenset()
    found = text.split('\n')
    # The length of names in ASCII is the same in characters and in bytes.
    if text.isascii() and (len(found), len(text)) == (
            count, int(length) + count - 1):
        return frozenset(found)
    return frozenset(connection.scalars(statement, parameters))
