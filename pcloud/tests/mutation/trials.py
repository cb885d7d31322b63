# SPDX-License-Identifier: Apache-2.0

"""Tests, measured with the code as it is, and tried with mutants.

Nothing of the project that is mutated is imported by this process: each
measurement and each trial imports the project anew, in a child. So a fault
reaches whatever is computed at import, and no cache knows the answers of
the code without the fault.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
import contextlib
import dataclasses
import functools
import importlib
from importlib import machinery
import math
import os
import pathlib
import resource
import signal
import sys
import time
import types
from typing import Any
import unittest

import coverage
import hypothesis
import testscenarios

from pcloud.tests.mutation import children
from pcloud.tests.mutation import mutants
from pcloud.tests import unit  # noqa: F401 for the profile "same"

# The longest import, in seconds of the processor.
_IMPORT = 60
# Seconds for a child that waits for ever, which spends no processor time.
_HANGING = 3600

# What ends a process that computes, or waits, for too long.
TIMEOUTS = {signal.SIGALRM, signal.SIGXCPU}

hypothesis.settings.register_profile(
    'mutation', hypothesis.settings.get_profile('same'), derandomize=True,
    # A value that fails is enough; nobody reads a smaller one.
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate])


@dataclasses.dataclass(frozen=True)
class Test:
    """A test, as measured.

    :ivar module: the module of the test
    :ivar place: the place among the tests of the module
    :ivar name: the id of the test
    :ivar result: ``passed``, ``failed`` or ``skipped``
    :ivar seconds: processor time
    :ivar lines: path to the lines that run in the test, or at the import
    """

    module: str
    place: int
    name: str
    result: str
    seconds: float
    lines: dict[str, frozenset[int]]

    def reaches(self, mutant: mutants.Mutant) -> bool:
        """Whether the test runs the place of a fault."""
        first, last = mutant.lines
        return not self.lines.get(mutant.path, frozenset()).isdisjoint(
            range(first, last + 1))


@functools.cache
def _cases(module: str) -> list[unittest.TestCase]:
    """Import a module of tests; return its tests, one for each scenario."""
    hypothesis.settings.load_profile('mutation')
    importlib.import_module(module)
    return list(testscenarios.generate_scenarios(
        unittest.defaultTestLoader.loadTestsFromName(module)))


def _result(case: unittest.TestCase) -> str:
    result = unittest.TestResult()
    # The suite sets up the class and the module of the test.
    unittest.TestSuite([case]).run(result)
    if not result.wasSuccessful():
        return 'failed'
    return 'skipped' if result.skipped else 'passed'


def load_others(modules: Collection[str]) -> None:
    """Import what modules of tests import of other projects.

    Children have then to import the modules of this project alone.

    :raises RuntimeError: a module of tests cannot be imported
    """
    for _, outcome in children.outcomes(_imported, [modules], 1):
        if outcome.value is None:
            raise RuntimeError(outcome.error)
        for name in outcome.value:
            # Somebody has done without some of the names.
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def _imported(modules: Collection[str]) -> list[str]:
    """Import modules; return the names that are of no file or folder here.

    The names are in the order in which the imports begin. In the order of
    ``sys.modules``, that of the ends, circles could not be imported again.
    """
    names: list[str] = []
    sys.meta_path.insert(0, types.SimpleNamespace(
        find_spec=lambda name, *_: names.append(name)))
    for each in modules:
        _cases(each)
    root = pathlib.Path.cwd()
    return [name for name in names if not any(
        (root / f'{name.partition(".")[0]}{end}').exists()
        for end in ('', '.py'))]


def measure(
    modules: Collection[str], paths: Collection[pathlib.Path], most: int,
) -> Iterator[Test]:
    """Run the tests of modules, each test in a child of its own.

    :param paths: the files whose lines are recorded
    :param most: how many modules are measured at the same time
    :raises RuntimeError: a test has ended its process
    """
    recorded = [str(path.absolute()) for path in paths]
    for _, outcome in children.outcomes(
            functools.partial(_measure_module, recorded), modules, most):
        if outcome.value is None:
            raise RuntimeError(outcome.error)
        yield from outcome.value


def _measure_module(recorded: list[str], module: str) -> list[Test]:
    cases, _, at_import = _recorded(recorded, lambda: _cases(module))
    tests = []
    work = functools.partial(_measure_case, recorded, cases)
    for place, outcome in children.outcomes(work, range(len(cases)), 1):
        if outcome.value is None:
            raise RuntimeError(f'{cases[place].id()}: {outcome.error}')
        result, seconds, lines = outcome.value
        tests.append(Test(
            module, place, cases[place].id(), result, seconds,
            {path: lines[path] | at_import[path] for path in lines}))
    return tests


def _measure_case(
    recorded: list[str], cases: list[unittest.TestCase], place: int,
) -> tuple[str, float, dict[str, frozenset[int]]]:
    return _recorded(recorded, lambda: _result(cases[place]))


def _recorded(
    paths: list[str], work: Callable[[], Any],
) -> tuple[Any, float, dict[str, frozenset[int]]]:
    """Work; return the value, the processor time, and path to lines."""
    recorder = coverage.Coverage(
        data_file=None, config_file=False, include=paths)
    began = time.process_time()
    recorder.start()
    value = work()
    recorder.stop()
    seconds = time.process_time() - began
    data = recorder.get_data()
    return value, seconds, {
        os.path.relpath(path): frozenset(data.lines(path) or ())
        for path in paths}


def killer(trial: tuple[mutants.Mutant, Collection[Test]]) -> str:
    """Return the name of the test that fails first with a mutant.

    The process is of no use afterwards.

    :param trial: a mutant, and the tests to run
    :returns: empty where all tests pass
    """
    signal.alarm(_HANGING)
    mutant, tests = trial
    _plant(mutant)
    for each in tests:
        _limit(_IMPORT)
        case = _cases(each.module)[each.place]
        _limit(5 + 5 * each.seconds)
        if _result(case) == 'failed':
            return each.name
    return ''


def _limit(seconds: float) -> None:
    """End this process after some more seconds of the processor.

    A limit by the clock would depend on what else the machine does.
    """
    resource.setrlimit(resource.RLIMIT_CPU, (
        math.ceil(time.process_time() + seconds), resource.RLIM_INFINITY))


def _plant(mutant: mutants.Mutant) -> None:
    """Have a mutant be imported instead of the module, in this process."""
    of_file = machinery.SourceFileLoader.get_code

    def get_code(loader: machinery.SourceFileLoader, name: str) -> Any:
        if name != mutant.module:
            return of_file(loader, name)
        return compile(mutant.source, loader.path, 'exec', dont_inherit=True)

    machinery.SourceFileLoader.get_code = get_code
