# SPDX-License-Identifier: Apache-2.0

"""Tables in CSV, with errors that name line and column."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import csv
import dataclasses

from pcloud import exception
from pcloud_simulator import input_values
from pcloud_simulator import text_files


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of a table.

    :ivar cells: column to text, without blanks around the text
    """

    path: str
    line: int
    cells: Mapping[str, str]

    def place(self, column: str) -> str:
        """Return where the file has the cell of a column."""
        return f'{self.path}, line {self.line}, {column}'

    def text(self, column: str) -> str:
        """Return a text, empty where the table does not have the column."""
        return self.cells.get(column, '')

    def number(self, column: str) -> float:
        """Return a number above 0.

        :raises: `exception.InvalidValue`
        """
        return input_values.number(self.text(column), self.place(column))

    def whole(self, column: str) -> int:
        """Return a whole number above 0.

        :raises: `exception.InvalidValue`
        """
        return input_values.whole(self.text(column), self.place(column))


def rows(
    path: str, required: Sequence[str], plain: Sequence[str] = (),
) -> Iterator[Row]:
    """Yield the lines of a table; lines without any text are left out.

    The first line names the columns, in any order and case; columns that
    no caller asks for do no harm.

    :param required: the columns that the table has to have
    :param plain: the columns of a table whose first line does not name
        columns; a first line that names none of the required columns is then
        the first line of values
    :raises: `exception.InvalidValue`, `exception.InputUnreadable`
    """
    lines = _lines(path)
    first = next(lines, None)
    if first is None:
        raise exception.InputUnreadable(
            path=path, reason='the file has no line with text')
    number_, cells = first
    names = [cell.lower() for cell in cells]
    if plain and not set(names) & set(required):
        _check_plain(path, number_, cells, required, plain)
        names = list(plain)
        yield _row(path, number_, names, cells)
    else:
        _check_names(path, number_, names, required)
    for number_, cells in lines:
        yield _row(path, number_, names, cells)


def own_name(
    row: Row, column: str, lines: dict[str, int], noun: str,
) -> str:
    """Return a name that no line before has, and note the name's line.

    :param lines: ``name -> line`` of the names before
    :param noun: what the lines of the table are
    :raises: `exception.InvalidValue`
    """
    name = row.text(column)
    if not name or name in lines:
        raise exception.InvalidValue(
            row.place(column), name, f'a name of its own for each {noun}' + (
                f'; line {lines[name]} has this name' if name else ''))
    lines[name] = row.line
    return name


def _lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line with text."""
    try:
        with text_files.reading(path) as file:
            reader = csv.reader(file)
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise exception.InputUnreadable(path=path, reason=error)


def _check_plain(
    path: str, line: int, cells: Sequence[str], required: Sequence[str],
    plain: Sequence[str],
) -> None:
    """Check that a first line without names has a value for each column.

    :raises: `exception.InvalidValue`
    """
    if len(cells) != len(plain):
        raise exception.InvalidValue(
            f'{path}, line {line}, {plain[0]}', ','.join(cells),
            f'a first line that names the columns {", ".join(required)}, '
            f'separated by commas; or else the {len(plain)} values of '
            f'{", ".join(plain)}')


def _check_names(
    path: str, line: int, names: Sequence[str], required: Sequence[str],
) -> None:
    for column in required:
        if names.count(column) != 1:
            raise exception.InvalidValue(
                f'{path}, line {line}, {column}', ','.join(names),
                'a first line that names this column once, '
                f'and the columns {", ".join(required)}')


def _row(
    path: str, line: int, names: Sequence[str], cells: Sequence[str],
) -> Row:
    if len(cells) != len(names):
        raise exception.InvalidValue(
            f'{path}, line {line}, {names[min(len(cells), len(names) - 1)]}',
            ','.join(cells),
            f'{len(names)} values, one for each column, and not {len(cells)}')
    return Row(path, line, dict(zip(names, cells, strict=True)))
