# SPDX-License-Identifier: Apache-2.0

"""What a part of the benchmark has measured, as a suite of pyperf."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import pathlib

import pyperf


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the file for `write`."""
    parser.add_argument('--json', type=pathlib.Path, metavar='FILE',
                        help='where to write what was measured, as pyperf '
                             'does')


def benchmark(
    name: str, seconds: Sequence[float], **metadata: object,
) -> pyperf.Benchmark:
    """Return what was measured under a name.

    :param seconds: seconds of each turn
    """
    return pyperf.Benchmark([pyperf.Run(seconds, metadata={
        'name': name, 'unit': 'second', **metadata})])


def write(
    path: pathlib.Path, measured: Mapping[str, Sequence[float]],
) -> None:
    """Write measurements.

    :param measured: name -> seconds of each turn
    """
    pyperf.BenchmarkSuite([
        benchmark(name, seconds) for name, seconds in measured.items()
    ]).dump(str(path), replace=True)


def read(path: pathlib.Path) -> dict[str, float]:
    """Return name -> the least seconds, of a file of pyperf."""
    return {each.get_name(): min(each.get_values())
            for each in pyperf.BenchmarkSuite.load(str(path))}
