# SPDX-License-Identifier: Apache-2.0

"""What was slow once, beside an earlier version of Pcloud, in one run.

``python -m pcloud.tests.benchmarks.baseline ../earlier`` runs parts of the
benchmark with the package `pcloud` of another checkout, and with that of this
one, one after the other and more than once. Both run these very benchmarks, in
this environment. The least time of each counts, so that other work of the
machine hits both alike.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import dataclasses
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

from pcloud.tests.benchmarks import command_lines
from pcloud.tests.benchmarks import suites
from pcloud.tests.benchmarks import tables

_HERE = pathlib.Path(__file__).parents[3]
_TESTS = 'tests'
BEFORE, NOW = 'before', 'now'


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table.

    :ivar name: what the part of the benchmark has measured
    :ivar minus: what is subtracted
    :ivar of: the time is a multiple of this time in the same version
    :ivar unit: the time is judged as a multiple of this time before, None for
        its own
    :ivar most: the most time that is wanted: with `of` that multiple, else as
        a multiple of the time before
    """

    name: str
    most: float
    minus: str | None = None
    of: str | None = None
    unit: str | None = None

    @property
    def what(self) -> str:
        """The row's first cell."""
        less = f', less {self.minus}' if self.minus else ''
        return self.name + less + (f', of {self.of}' if self.of else '')

    def value(self, found: Mapping[str, float]) -> float:
        """Return the seconds of a version, or the multiple."""
        value = found[self.name] - (found[self.minus] if self.minus else 0)
        return value / found[self.of] if self.of else value

    def cells(
        self, before: Mapping[str, float], now: Mapping[str, float],
    ) -> list[str]:
        """Return the row: before, now, what is judged, and what is wanted."""
        scale = 1 if self.of else 1000
        return [self.what,
                *(f'{scale * self.value(each):,.{2 if self.of else 1}f}'
                  for each in (before, now)),
                f'{self.judged(before, now):.3f}', f'{self.most:.3g}']

    def judged(
        self, before: Mapping[str, float], now: Mapping[str, float],
    ) -> float:
        """Return the value of now, or its ratio to a time before."""
        if self.of:
            return self.value(now)
        return self.value(now) / (
            before[self.unit] if self.unit else self.value(before))


def _in_growth(name: str, size: int = 10) -> str:
    return f'{name}, 20000 hosts, Pcloud of {size}'


def _in_filters(name: str, asked: str) -> str:
    return f'{name} ({asked}), 10000 hosts, 2000 Pclouds'


_PUT = 'PUT /os-pclouds/{id}/hosts/{name}'
_POST = 'POST /os-pclouds/{id}/hosts'
_LIST = 'made: GET /servers/detail'
_LAUNCH = 'made: POST /servers'
_RAM = _in_filters('RAMWeigher', 'nothing asked')

# A call that was as slow before any work on what was slow: it tells how fast
# a machine is.
_FLAVORS = _in_growth('GET /os-host-flavors')

# Part -> its arguments, and what the table shows of the part.
PARTS: Mapping[str, tuple[list[str], list[Row]]] = {
    'growth': (['--hosts', '20000'], [
        *(Row(_in_growth(_PUT, size), 60 / 1850, unit=_FLAVORS)
          for size in (10, 50, 100, 200)),
        Row(_in_growth(_PUT, 200), 1.3, of=_in_growth(_PUT)),
        *(Row(_in_growth(_POST, size), 100 / 1850, unit=_FLAVORS)
          for size in (10, 100)),
        Row(_in_growth(_POST, 200), 1.3, of=_in_growth(_POST)),
        Row(_in_growth(f'{_POST}, constraints'), 100 / 1850, unit=_FLAVORS),
        Row(_FLAVORS, 50 / 1850),
        Row(_in_growth('GET /os-pclouds?all_tenants=1'), 0.11),
        Row(_in_growth('reads of a boot without a hint'), 0.27)]),
    'made_answers': (['--servers', '1000'], [
        *(Row(f'{_LIST}, {servers}, with', 0.037,
              minus=f'{_LIST}, {servers}, without') for servers in (
                  'plain servers', 'records in all servers')),
        Row(f'{_LAUNCH}, with', 0.167, minus=f'{_LAUNCH}, without')]),
    'filters': (['--hosts', '10000', '--pclouds', '2000'], [
        *(Row(_in_filters(name, asked), most) for name, asked, most in (
            ('AffinityFilter', '10 system keys, #RAM, #CPU, #LOAD', 0.124),
            ('AffinityWeigher', '10 customer keys', 0.325),
            ('ConstraintsFilter', 'nothing asked', 0.205),
            ('ConstraintsFilter', 'ram=max, platform, rack', 0.207))),
        # All that this LocalityFilter takes is Nova's handling of the hosts.
        Row(_in_filters('ConstraintsFilter', 'nothing asked'), 0.205,
            minus=_in_filters('LocalityFilter', 'nothing asked')),
        *(Row(_in_filters(name, 'nothing asked'), 1, of=_RAM) for name in (
            'PlatformWeigher', 'RebootWeigher', 'HardwareClassWeigher')),
        Row(_in_filters('LeastWasteWeigher', 'nothing asked'), 0.5, of=_RAM),
    ]),
    'allocations': (['--processes', '1', '2'], [
        # 8 hosts a second of processor time.
        Row(f'a host, {processes} processes', 125 / 1850, unit=_FLAVORS)
        for processes in (1, 2)]),
    'command_lines': ([], [
        Row(f'{each.name}, {command_lines.WITH}', each.bound,
            of=f'{each.name}, {command_lines.WITHOUT}')
        for each in command_lines.COMMANDS]),
}


# How many times as many turns a part takes: what is wanted of commands, and of
# a launch beside a call of Glance, is less than the differences between a few
# turns.
_TURNS = {'command_lines': 5, 'made_answers': 5}


@contextlib.contextmanager
def packages(earlier: pathlib.Path) -> Iterator[dict[str, pathlib.Path]]:
    """Make the folders in which Python finds the package of each version.

    :returns: version -> folder; the tests are of this checkout in both
    """
    with tempfile.TemporaryDirectory(prefix='pcloud-bench-') as parent:
        there = pathlib.Path(parent, 'pcloud')
        there.mkdir()
        for each in (earlier / 'pcloud').iterdir():
            if each.name not in (_TESTS, '__pycache__'):
                (there / each.name).symlink_to(each.resolve())
        (there / _TESTS).symlink_to(_HERE / 'pcloud' / _TESTS)
        (pathlib.Path(parent) / 'setup.cfg').symlink_to(
            (earlier / 'setup.cfg').resolve())
        yield {BEFORE: pathlib.Path(parent), NOW: _HERE}


def run(part: str, folder: pathlib.Path, repeat: int) -> dict[str, float]:
    """Run a part of the benchmark in a version; return name -> seconds.

    A wanted figure that is missed is no error here.

    :raises: `AssertionError` when the part has written nothing
    """
    arguments, _ = PARTS[part]
    with tempfile.TemporaryDirectory() as parent:
        path = pathlib.Path(parent, 'found.json')
        done = subprocess.run(
            [sys.executable, '-m', f'pcloud.tests.benchmarks.{part}',
             *arguments, '--repeat', str(repeat * _TURNS.get(part, 1)),
             '--json', str(path)],
            cwd=folder, env={**os.environ, 'PYTHONPATH': str(folder)},
            capture_output=True, text=True)
        assert path.exists(), done.stdout + done.stderr
        return suites.read(path)


def measure(
    part: str, folders: Mapping[str, pathlib.Path], rounds: int, repeat: int,
) -> dict[str, dict[str, float]]:
    """Return version -> name -> the least seconds of all rounds."""
    found: dict[str, dict[str, float]] = {name: {} for name in folders}
    for number, name in itertools.product(range(rounds), folders):
        print(f'{part}, {name}, round {number + 1} ...', file=sys.stderr)
        for what, seconds in run(part, folders[name], repeat).items():
            found[name][what] = min(
                seconds, found[name].get(what, seconds))
    return found


def main() -> int:
    """Measure, print a table, and fail when a row is not as wanted."""
    parser = argparse.ArgumentParser(
        prog='python -m pcloud.tests.benchmarks.baseline',
        description=__doc__.splitlines()[0])
    parser.add_argument('earlier', type=pathlib.Path,
                        help='a checkout of the earlier version')
    parser.add_argument('--parts', nargs='+', choices=PARTS,
                        default=list(PARTS))
    parser.add_argument('--rounds', type=int, default=2)
    parser.add_argument('--repeat', type=int, default=5)
    options = parser.parse_args()
    before: dict[str, float] = {}
    now: dict[str, float] = {}
    with packages(options.earlier) as folders:
        for part in options.parts:
            found = measure(part, folders, options.rounds, options.repeat)
            before |= found[BEFORE]
            now |= found[NOW]
    # Without the part that has measured a unit, no multiple is known.
    rows = [row for part in options.parts for row in PARTS[part][1]
            if row.unit is None or row.unit in before]
    print(tables.listed([['', BEFORE, NOW, 'judged', 'wanted'], *(
        row.cells(before, now) for row in rows)]))
    missed = [row.what for row in rows if row.judged(before, now) > row.most]
    for what in missed:
        print(f'not as wanted: {what}', file=sys.stderr)
    return int(bool(missed))


if __name__ == '__main__':
    sys.exit(main())
