# SPDX-License-Identifier: Apache-2.0

"""Read very many rows as a few strings.

A database driver in Python takes longer for a row than for the values of the
row, so the database joins the values of many rows into one string.
"""

import collections
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import functools
import typing
import weakref

import sqlalchemy as sa
from sqlalchemy import orm

# How many values are looked up by name; more values cost more than all rows.
MOST_NAMED = 2000

_NO_PARAMETERS: Mapping[str, typing.Any] = {}
_SEPARATOR = '\n'
_IS_UNCUT = 'pcloud_is_uncut'
# MariaDB cuts strings short at 1 MiB and MySQL at 1 KiB, unless told not to.
_UNCUT = sa.text(f'SET SESSION group_concat_max_len = {2 ** 30}')


def among(
    column: sa.ColumnElement[str], values: Collection[str],
) -> sa.ColumnElement[bool]:
    """Return the condition that a column has one of some values.

    With more than `MOST_NAMED` values the condition holds for all rows, and
    the caller leaves out the other rows.
    """
    return column.in_(values) if len(values) <= MOST_NAMED else sa.true()


def only(
    statement: sa.Select, column: sa.ColumnElement[str],
    values: Collection[str],
) -> sa.Select:
    """Return a statement of the rows that are `among` some values.

    With more than `MOST_NAMED` values the statement is the same.
    """
    if len(values) > MOST_NAMED:
        return statement
    return statement.where(column.in_(values))


# From one request to the next most sets are the same.
@functools.lru_cache(maxsize=8)
def union(*sets_: frozenset[str]) -> frozenset[str]:
    """Return the values in any of some sets."""
    return frozenset().union(*sets_)


# Some of these sets are of one cell alone.
@functools.lru_cache(maxsize=16)
def common(
    values: frozenset[str], others: frozenset[str],
) -> frozenset[str]:
    """Return the values that are among other values, mostly all."""
    return values if values <= others else values & others


@functools.lru_cache(maxsize=8)
def without(
    values: frozenset[str], others: frozenset[str],
) -> frozenset[str]:
    """Return the values that are not among other values."""
    return values - others


def distinct(session: orm.Session, statement: sa.Select) -> frozenset[str]:
    """Return the different values of a statement with one column of text.

    One query, and another query where the database cut the string short or a
    value has a line break. Values with different letter case are different
    values, whatever the collation of the database.
    """
    joined, = _joined(session, _select_table(statement))
    values = _different(joined)
    if values is None:
        values = frozenset(session.scalars(statement))
    return values - {None}


def groups(
    session: orm.Session, statement: sa.Select,
    parameters: Mapping[str, typing.Any] = _NO_PARAMETERS,
) -> list[tuple[typing.Any, ...]]:
    """Return a row for all rows that differ in the last column alone.

    Queries as `distinct`. The groups should be few.

    :param statement: the last column is of text
    :param parameters: the statement's bound parameters
    :returns: the values of the other columns, and the sequence of the values
        of the last column without NULL
    """
    found = []
    for *key, text, count, length in _joined(
            session, _select_groups(statement), parameters):
        values = _split((text, count, length), 1)
        if values is None:
            return _gathered(session.execute(statement, parameters))
        found.append((*key, values))
    return found


def by_key(
    pairs: Iterable[tuple[typing.Any, str]],
) -> dict[typing.Any, frozenset[str]]:
    """Return the set of the values of each key."""
    found = collections.defaultdict(set)
    for key, value in pairs:
        found[key].add(value)
    return {key: frozenset(values) for key, values in found.items()}


# The text, number and length that the database has given, and the sets.
_Known = tuple[tuple, tuple[frozenset[str], frozenset[str]]]
_NOTHING: _Known = (), (frozenset(), frozenset())


class Memo:
    """The sets of the last answer to a statement.

    From one request to the next most names are the same, and to make a set of
    names takes longer than to compare the names' text.

    :ivar last: ``values of the other columns -> the text that the database
        joined, and what `sets` returns of the text``
    """

    def __init__(self) -> None:
        self.last: Mapping[tuple, _Known] = {}


def sets(
    session: orm.Session, statement: sa.Select, memo: Memo,
) -> list[tuple[typing.Any, ...]]:
    """Return `groups` with a set instead of the sequence of the values.

    :param memo: of this statement alone
    :returns: the values of the other columns, the set, and the set of the
        values that there are more than once
    """
    last = memo.last
    found: dict[tuple, _Known] = {}
    for *key, text, count, length in _joined(
            session, _select_groups(statement)):
        joined = text, count, length
        if last.get(tuple(key), _NOTHING)[0] == joined:
            found[tuple(key)] = last[tuple(key)]
            continue
        values = _split(joined, 1)
        if values is None:
            return [(*its_key, *_made(its_values)) for *its_key, its_values
                    in _gathered(session.execute(statement))]
        found[tuple(key)] = joined, _made(values)
    memo.last = found
    return [(*key, *made) for key, (_, made) in found.items()]


def _made(values: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the different values, and those that there are several times."""
    different = frozenset(values)
    if len(different) == len(values):
        return different, frozenset()
    return different, frozenset(
        value for value, count in collections.Counter(values).items()
        if count > 1)


class TableMemo:
    """The last answer to a statement of `table`.

    :ivar last: what the database joined, and the rows
    """

    def __init__(self) -> None:
        self.last: tuple[tuple, Sequence[tuple[str, ...]]] = (), ()


def table(
    session: orm.Session, statement: sa.Select,
    memo: TableMemo | None = None,
) -> Sequence[tuple[str, ...]]:
    """Return the rows of a statement with columns of text or numbers.

    Queries as `distinct`. All values are strings; rows with NULL are left out.

    :param statement: the last column is of text
    :param memo: of this statement alone; the same answer is the same object
        then
    """
    joined, = _joined(session, _select_table(statement))
    last, rows = ((), ()) if memo is None else memo.last
    if last == joined:
        return rows
    width = len(statement.selected_columns)
    values = _split(joined, width)
    if values is None:
        as_text = statement.with_only_columns(
            *_texts(statement), maintain_column_froms=True)
        return [tuple(row) for row in session.execute(as_text)
                if None not in row]
    rows = list(zip(*[iter(values)] * width, strict=True))
    if memo is not None:
        memo.last = tuple(joined), rows
    return rows


def _joined(
    session: orm.Session, statement: sa.Select,
    parameters: Mapping[str, typing.Any] = _NO_PARAMETERS,
) -> Sequence[sa.Row]:
    """Return the rows of a statement of `_select_joined`."""
    _leave_uncut(session.connection())
    return session.execute(statement, parameters).all()


def _kept_with_statement(
    make: Callable[[sa.Select], sa.Select],
) -> Callable[[sa.Select], sa.Select]:
    """Keep what a function makes of a statement as long as the statement.

    To make it takes longer than to use it where few rows are joined.
    """
    kept: weakref.WeakKeyDictionary[sa.Select, sa.Select] = (
        weakref.WeakKeyDictionary())

    @functools.wraps(make)
    def made_of(statement: sa.Select) -> sa.Select:
        if statement not in kept:
            kept[statement] = make(statement)
        return kept[statement]
    return made_of


@_kept_with_statement
def _select_groups(statement: sa.Select) -> sa.Select:
    """Select the values of the last column joined for each of the others."""
    *keys, column = statement.selected_columns
    return _select_joined(statement, keys, [column])


@_kept_with_statement
def _select_table(statement: sa.Select) -> sa.Select:
    """Select all values of a statement joined."""
    return _select_joined(statement, [], _texts(statement))


def _texts(statement: sa.Select) -> list[sa.ColumnElement[str]]:
    """Return the columns of a statement as text."""
    return [column if isinstance(column.type, sa.String) else
            sa.cast(column, sa.String)
            for column in statement.selected_columns]


def _select_joined(
    statement: sa.Select, keys: Sequence[sa.ColumnElement],
    columns: Sequence[sa.ColumnElement[str]],
) -> sa.Select:
    """Join the values of columns into a string for each of some keys.

    The columns of the statement are the keys, the string, the number of values
    of the last column, and the sum of the lengths of these values in
    characters or bytes.
    """
    line = functools.reduce(
        lambda one, other: one.concat(_SEPARATOR).concat(other), columns)
    return statement.with_only_columns(
        *keys, sa.func.aggregate_strings(line, _SEPARATOR),
        sa.func.count(columns[-1]), sa.func.sum(sa.func.length(columns[-1])),
        maintain_column_froms=True).group_by(*keys)


def _leave_uncut(connection: sa.Connection) -> None:
    """Tell the database once a connection that strings may be long."""
    if (_IS_UNCUT not in connection.info and
            connection.dialect.name in ('mysql', 'mariadb')):
        connection.execute(_UNCUT)
        connection.info[_IS_UNCUT] = True


def _split(
    joined: tuple[str | None, int, int | None], width: int,
) -> Sequence[str] | None:
    """Split a string into values; None when the string is not as expected.

    :param joined: the string, number and length from `_joined`
    :param width: the number of columns
    """
    text, count, length = joined
    if not count:
        return ()
    if text is None:
        return None
    values = text.split(_SEPARATOR)
    # The last value of a string that was cut short is shorter, or missing.
    last = values[width - 1::width]
    if len(values) != count * width or length != _length(last) and (
            text.isascii() or length != _length(map(str.encode, last))):
        return None
    return values


def _length(values: Iterable[str | bytes]) -> int:
    return sum(map(len, values))


# From one request to the next the values are mostly the same.
@functools.lru_cache(maxsize=2)
def _different(
    joined: tuple[str | None, int, int | None],
) -> frozenset[str] | None:
    values = _split(joined, 1)
    return None if values is None else frozenset(values)


def _gathered(
    rows: Iterable[Sequence[typing.Any]],
) -> list[tuple[typing.Any, ...]]:
    found: dict[tuple, list[str]] = {}
    for *key, value in rows:
        values = found.setdefault(tuple(key), [])
        if value is not None:
            values.append(value)
    return [(*key, values) for key, values in found.items()]
