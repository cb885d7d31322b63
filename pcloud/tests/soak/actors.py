# SPDX-License-Identifier: Apache-2.0

"""The actors that work beside the clients during a run.

An actor is a function that takes the run (`stage.Stage`), works until the
run's `stop` is set, and counts events in the run's figures. Each function in
`ACTORS` runs in a thread, and each in `LASTING`, which works until the run's
`played` is set. Actors act after a number of calls and not of
seconds, so that a slow machine has no more faults than a fast machine.
"""

from collections.abc import Callable
import json
import os
import random
import subprocess
import sys
import time

from pcloud.tests.soak import far
from pcloud.tests.soak import growers
from pcloud.tests.soak import guests
from pcloud.tests.soak import launches
from pcloud.tests.soak import queues
from pcloud.tests.soak import readers
from pcloud.tests.soak import rebalances
from pcloud.tests.soak import recoveries
from pcloud.tests.soak import stage as soak_stage

_SILENT = 300
_WORKERS = 2


def kill(stage: soak_stage.Stage) -> None:
    """Kill an API process now and then; a new process follows."""
    chance = random.Random(f'{stage.seed} kill')
    while stage.wait_for_calls(chance.randint(200, 800)):
        time.sleep(chance.uniform(0, 0.2))
        if stage.cloud.kill(chance.randrange(len(stage.cloud.urls))):
            stage.figures.count('kills')


def take_away(stage: soak_stage.Stage) -> None:
    """Have MariaDB or Placement refuse all connections for a moment."""
    chance = random.Random(f'{stage.seed} away')
    while stage.wait_for_calls(chance.randint(100, 300)):
        name, longest = chance.choice((('placement', 4), ('database', 1)))
        stage.proxies.take_away(name, chance.uniform(0.3, longest))
        stage.figures.count(f'{name} away')


def audit(stage: soak_stage.Stage) -> None:
    """Run ``pcloud-manage audit --fix`` beside all calls."""
    chance = random.Random(f'{stage.seed} audit')
    while stage.wait_for_calls(chance.randint(800, 1600)):
        status, findings = run_audit(stage, '--fix')
        stage.figures.count(f'audit --fix -> {status}')
        for finding in findings:
            done = 'repaired' if finding.get('repaired') else 'found'
            stage.figures.count(f'audit {done}: {finding["kind"]}')


def work(stage: soak_stage.Stage) -> None:
    """Run two workers beside all calls, and kill one now and then."""
    chance = random.Random(f'{stage.seed} work')
    running: list[subprocess.Popen] = []
    try:
        while True:
            while len(running) < _WORKERS:
                running.append(_worker(stage))
            if not stage.wait_for_calls(chance.randint(100, 400)):
                # Others still wait for what workers do.
                stage.played.wait()
                return
            killed = running.pop(chance.randrange(_WORKERS))
            if killed.poll() is not None:
                stage.figures.violation(
                    'a worker ended', f'at {soak_stage.now():.3f}',
                    f'exit {killed.returncode}')
            killed.kill()
            killed.wait()
            stage.figures.count('workers killed')
    finally:
        for each in running:
            each.kill()
            each.wait()


def _worker(stage: soak_stage.Stage) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, '-m', 'pcloud.tests.concurrency.worker',
         str(stage.computes.config)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _command() -> str:
    return os.path.join(os.path.dirname(sys.executable), 'pcloud-manage')


def run_audit(
    stage: soak_stage.Stage, *options: str,
) -> tuple[int | None, list[dict]]:
    """Run ``pcloud-manage audit``, which reads past the proxies.

    :returns: exit status, None when the command did not end; and findings
    """
    began = time.monotonic()
    try:
        done = subprocess.run(
            [_command(), '--config-file', stage.cloud.config, 'audit',
             '--format', 'json', *options], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=_SILENT, check=False)
    except subprocess.TimeoutExpired:
        stage.figures.violation('audit could not look', 'no end',
                                f'after {_SILENT} s')
        return None, []
    if done.returncode not in (0, 1):
        if stage.outages.any_since(began):
            stage.figures.count('audits beside an outage that could not look')
            return None, []
        stage.figures.violation(
            'audit could not look', f'at {soak_stage.now():.3f}',
            f'exit {done.returncode}: {done.stdout[-500:]}' +
            stage.last_errors(' ERROR pcloud.cmd.'))
        return done.returncode, []
    return done.returncode, json.loads(done.stdout)['findings']


ACTORS: list[Callable[[soak_stage.Stage], None]] = [
    kill, take_away, audit, *launches.SENDERS, launches.swing, *far.ACTORS,
    recoveries.recover, rebalances.rebalance, *guests.ACTORS,
    *growers.ACTORS, *queues.ACTORS, *readers.ACTORS]
LASTING: list[Callable[[soak_stage.Stage], None]] = [work]
