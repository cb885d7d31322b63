# SPDX-License-Identifier: Apache-2.0

"""Measured figures, and the file that keeps the figures of a run."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import enum
import json
import pathlib

# Name of the module -> title, in the order of a run.
PARTS: Mapping[str, str] = {
    'filters': 'Filters and weighers',
    'boots': 'Boots beside a Nova without Pcloud',
    'nova_calls': "Nova's own calls with the filter of nova-api",
    'calls': 'Calls of Pcloud in two clouds',
    'allocations': 'Hosts a second',
    'aggregates': "Nova's reads of all aggregates",
    'workers': 'Workers',
    'at_once': 'Many changes at the same moment',
    'growing': 'Launches at the same moment',
    'control_plane': 'A control plane of 100,000 hosts',
    'plans': 'Plans',
    'command_lines': 'Command lines',
}

# Units of figures that are wanted in clouds of full size alone: the rest of
# the figures are counts, which are the same on every machine.
TIMES, BYTES = 'times ', 'bytes'


class Verdict(enum.Enum):
    """What a wanted figure turned out to be."""

    MET = 'met'
    MISSED = 'missed'
    NOT_INSTALLED = 'not installed'


@dataclasses.dataclass(frozen=True)
class Row:
    """A measured figure.

    :ivar table: the title of the table
    :ivar name: what was measured, which is the line of the table
    :ivar unit: the quantity with the unit, which is the column; a multiple of
        another time begins with `TIMES`
    :ivar found: the figure; None where what is measured is not installed
    :ivar most: the most that is wanted; None where no upper bound is wanted
    :ivar least: the least that is wanted; None where no lower bound is wanted
    :ivar why: the reason for the bound
    """

    table: str
    name: str
    unit: str
    found: float | None
    most: float | None = None
    least: float | None = None
    why: str = ''

    @property
    def is_wanted(self) -> bool:
        """Whether there is a bound."""
        return self.most is not None or self.least is not None

    @property
    def is_count(self) -> bool:
        """Whether the figure is the same on every machine."""
        return not self.unit.startswith((TIMES, BYTES))

    @property
    def verdict(self) -> Verdict:
        """What a row with a bound turned out to be."""
        if self.found is None:
            return Verdict.NOT_INSTALLED
        is_met = ((self.most is None or self.found <= self.most) and
                  (self.least is None or self.found >= self.least))
        return Verdict.MET if is_met else Verdict.MISSED

    @property
    def wanted(self) -> str:
        """The bounds in words."""
        return ', '.join(
            f'{word} {bound:g}' for word, bound in (
                ('at most', self.most), ('at least', self.least))
            if bound is not None)


@dataclasses.dataclass(frozen=True)
class Part:
    """What a part has measured.

    :ivar seconds: how long the part took
    :ivar error: the end of what a part has printed that failed; '' for a part
        that has measured everything
    :ivar commit: the commit of Pcloud, '' for the commit of the run
    """

    seconds: float
    error: str
    rows: Sequence[Row]
    commit: str = ''


@dataclasses.dataclass
class Run:
    """What a run has measured.

    :ivar commit: the commit of Pcloud
    :ivar date: the day on which the run began
    :ivar sizes: ``full`` or ``small``
    :ivar machine: what the machine is and has -> number or version
    :ivar parts: the name of a part -> what the part has measured
    """

    commit: str
    date: str
    sizes: str
    machine: dict[str, str]
    parts: dict[str, Part] = dataclasses.field(default_factory=dict)

    @property
    def wanted(self) -> list[tuple[str, Row]]:
        """The name of the part, and the row, for each wanted figure."""
        return [(name, row) for name, part in self.parts.items()
                for row in part.rows if row.is_wanted]

    def left(self) -> list[str]:
        """Return the parts that have failed, or have not run."""
        return [name for name in PARTS
                if name not in self.parts or self.parts[name].error]

    @property
    def is_met(self) -> bool:
        """Whether no part has failed, and no wanted figure is missed."""
        return (not any(part.error for part in self.parts.values()) and
                not any(row.verdict is Verdict.MISSED
                        for _, row in self.wanted))


def read(path: pathlib.Path) -> Run:
    """Return the run that a file keeps.

    The file has a line of JSON for the run, then a line for each part, which
    is followed by a line for each row of the part.

    :raises: `OSError` or `ValueError` for a file that is not one of `write`
    """
    first, *others = map(json.loads, path.read_text().splitlines())
    run = Run(**first)
    for values in others:
        if 'part' in values:
            name = values.pop('part')
            rows: list[Row] = []
            run.parts[name] = Part(**values, rows=rows)
        else:
            rows.append(Row(**values))
    return run


def write(path: pathlib.Path, run: Run) -> None:
    """Keep a run in a file."""
    lines = [{name: value for name, value in vars(run).items()
              if name != 'parts'}]
    for name, part in run.parts.items():
        lines.append({'part': name, 'seconds': round(part.seconds),
                      'error': part.error,
                      **({'commit': part.commit} if part.commit else {})})
        lines += map(line, part.rows)
    path.write_text(''.join(json.dumps(each) + '\n' for each in lines))


def line(row: Row) -> dict[str, object]:
    """Return the values of a row that say something, to four digits."""
    values = {field.name: getattr(row, field.name)
              for field in dataclasses.fields(row)
              if getattr(row, field.name) != field.default}
    if isinstance(row.found, float):
        values['found'] = float(f'{row.found:.4g}')
    return values
