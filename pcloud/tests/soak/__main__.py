# SPDX-License-Identifier: Apache-2.0

"""``python -m pcloud.tests.soak --minutes N``."""

import argparse
from collections.abc import Callable
import contextlib
import pathlib
import random
import shutil
import signal
import sys
import threading
import time

from pcloud.tests.cloud.own import servers
from pcloud.tests.concurrency import cloud as concurrency_cloud
from pcloud.tests.concurrency import mariadb
from pcloud.tests.soak import actors
from pcloud.tests.soak import client as soak_client
from pcloud.tests.soak import computes
from pcloud.tests.soak import ending
from pcloud.tests.soak import growers
from pcloud.tests.soak import guests
from pcloud.tests.soak import proxies as soak_proxies
from pcloud.tests.soak import queues
from pcloud.tests.soak import rows
from pcloud.tests.soak import sampler as soak_sampler
from pcloud.tests.soak import stage as soak_stage
from pcloud.tests.soak import wishes

CLIENTS, PROCESSES = 16, 4
# Host flavor -> (units, number of hosts); some have too few hosts for all.
_FLAVORS = {'soak-one': (1, 160), 'soak-two': (2, 16), 'soak-few': (1, 6),
            'soak-free': (0, 60)}
# Of the second cell: a host flavor and the number of hosts.
_FAR_ROWS, _FAR_NUMBER = 'soak-far-rows', 24
_SPARE = 2
# The numbers of hosts on which servers start: always public, always in a pool,
# in a pool now and then.
_PUBLIC, _POOLED, _SWINGING = 3, 5, 4
# The numbers of such hosts of other host flavors.
_OTHERS = {soak_stage.FAR: 5, soak_stage.ASIDE: 3, soak_stage.FRAIL: 5,
           soak_stage.SPREAD: 5, guests.FLAVOR: 3, growers.FLAVOR: 4}
# The numbers of clients that use the real hosts of a cell.
_HOSTING, _HOSTING_FAR = 4, 3
# Most hosts are rows without a nova-compute, so no call waits for an answer.
# Of many processes each keeps few connections that nobody uses.
# A server is started elsewhere soon after its host was fenced, without a disk.
_OPTIONS = f"""quota_units = {soak_stage.DEFAULT_QUOTA}
recovery_after = 5
recovery_shared_disks = True
[DEFAULT]
long_rpc_timeout = 0
debug = False
[database]
max_pool_size = 2
[api_database]
max_pool_size = 2
"""


def main() -> int:
    """Run, print the figures, and leave no process and no database.

    :returns: the exit status, 1 when a promise was violated
    """
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    output = pathlib.Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    try:
        stage = _run(arguments, output)
    except KeyboardInterrupt:
        print('Interrupted; nothing is left running.', flush=True)
        return 130
    report = stage.figures.table()
    (output / 'figures.txt').write_text(report + '\n')
    print(report)
    print(f'{stage.figures.broken()} violations; seed {stage.seed}; calls '
          f'and log are in {output}')
    return 1 if stage.figures.broken() else 0


def _run(arguments: argparse.Namespace,
         output: pathlib.Path) -> soak_stage.Stage:
    """Build a run, play the run, and stop all processes."""
    with contextlib.ExitStack() as left:
        journal = left.enter_context(open(output / 'calls.jsonl', 'w'))
        stage = _build(left, arguments.seed, journal)
        left.callback(_keep_log, stage, output)
        left.callback(stage.ended.set)
        # A second Ctrl-C does not interrupt the removal.
        left.callback(signal.signal, signal.SIGINT, signal.SIG_IGN)
        far_rows = stage.cloud.seed(_FAR_ROWS, _FAR_NUMBER, cell='cell2')
        clients = [
            soak_client.Client(stage, number, _taste(stage, number, far_rows))
            for number in range(arguments.clients)]
        _play(stage, clients, arguments)
    return stage


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='python -m pcloud.tests.soak',
        description='Clients, faults and a checker, at work on one cloud.')
    parser.add_argument('--minutes', type=float, default=10,
                        help='how long faults last (default: %(default)s)')
    parser.add_argument('--allocations', type=int, default=sys.maxsize,
                        help='end earlier, when so many hosts were given')
    parser.add_argument('--clients', type=int, default=CLIENTS,
                        help='how many (default: %(default)s)')
    parser.add_argument('--seed', type=int, default=random.randrange(10**6),
                        help='what the choices of clients and faults begin '
                             'with')
    parser.add_argument('--output', default='build/soak',
                        help='where calls, figures and the log of nova-api '
                             'are left (default: %(default)s)')
    return parser.parse_args()


def _build(left: contextlib.ExitStack, seed: int,
           journal) -> soak_stage.Stage:
    """Start all processes, and make the hosts for all clients."""
    broker, second = (_start_broker(left) for _ in range(2))
    cloud = concurrency_cloud.Cloud(
        PROCESSES, 'nova', _OPTIONS, broker.url)
    left.callback(cloud.stop)
    proxies = soak_proxies.Proxies({
        'database': mariadb.PORT, 'placement': cloud.placement_port,
        'cell2': mariadb.PORT})
    left.callback(proxies.stop)
    proxies.start()
    cloud.start(proxies.detours, concurrency_cloud.SecondCell(
        second.url, proxies.ports['cell2']))
    print('The processes are up; hosts are made.', flush=True)
    cloud.seed(queues.FLAVOR, queues.HOSTS)
    shared = {flavor: cloud.seed(flavor, count, units)
              for flavor, (units, count) in _FLAVORS.items()}
    made, real, far = _build_real(cloud)
    return soak_stage.Stage(cloud, proxies, seed, journal, shared, made, real,
                            real[-_SWINGING:], far, second)


def _start_broker(left: contextlib.ExitStack) -> servers.RabbitMQ:
    # Started at once, so that the next takes another port.
    broker = computes.broker()
    left.callback(broker.remove)
    broker.start()
    return broker


def _build_real(
    cloud: concurrency_cloud.Cloud,
) -> tuple[computes.Computes, list[str], list[str]]:
    """Start the hosts on which servers start.

    :returns: compute services; names of the hosts of the first cell that are
        not one actor's alone, of which the last are the swinging hosts; names
        of the hosts of the second cell
    """
    real = [f'real-{number}'
            for number in range(_PUBLIC + _POOLED + _SWINGING)]
    others = {flavor: [f'{flavor}-{number}' for number in range(count)]
              for flavor, count in _OTHERS.items()}
    made = computes.Computes(cloud)
    made.start([
        computes.Group(real + others[guests.FLAVOR] + others[growers.FLAVOR]),
        computes.Group(others[soak_stage.FAR], second=True),
        computes.Group(others[soak_stage.ASIDE] + others[soak_stage.SPREAD],
                       'SteadyDriver'),
        computes.Group(others[soak_stage.FRAIL], 'LastingDriver',
                       apart=True)])
    made.fill_pool(soak_stage.REAL, real[_PUBLIC:-_SWINGING])
    for flavor, hosts in others.items():
        made.fill_pool(flavor, hosts)
    print('Servers can be started.', flush=True)
    return made, real, others[soak_stage.FAR]


def _taste(stage: soak_stage.Stage, number: int,
           far_rows: list[str]) -> wishes.Taste:
    spare = [f'spare-{number}-{each}' for each in range(_SPARE)]
    for host in spare:
        stage.cloud.make_host(host, disabled=True)
    if number < _HOSTING:
        return wishes.Taste({soak_stage.REAL: stage.real}, spare, 0.6)
    if number < _HOSTING + _HOSTING_FAR:
        return wishes.Taste(
            {soak_stage.FAR: stage.far, _FAR_ROWS: far_rows}, spare, 0.6)
    return wishes.Taste(stage.shared, spare, 0.15)


def _keep_log(stage: soak_stage.Stage, output: pathlib.Path) -> None:
    if stage.cloud.log.exists():
        shutil.copy(stage.cloud.log, output / 'nova.log')


def _play(stage: soak_stage.Stage, clients: list[soak_client.Client],
          arguments: argparse.Namespace) -> None:
    """Run clients and faults, then let owners remove all resources."""
    reader, sampler = rows.Reader(), soak_sampler.Sampler(stage)
    ratios, services = reader.ratios(), reader.services()
    stage.switch(True)
    sampling = _start(stage, sampler.run)
    playing = [_start(stage, client.run) for client in clients]
    playing += [_start(stage, actor, stage) for actor in actors.ACTORS]
    lasting = [_start(stage, actor, stage) for actor in actors.LASTING]
    try:
        _wait(stage, arguments.minutes * 60, arguments.allocations)
    finally:
        stage.stop.set()
    _join(playing)
    stage.played.set()
    _join(lasting)
    stage.switch(False)
    print('Faults are off; owners remove everything.', flush=True)
    ending.check_in_force(stage, reader)
    for each in (soak_client.Client.check_usage, ending.remove_pclouds,
                 ending.remove_rest, soak_client.Client.check_usage):
        _join([_start(stage, each, client) for client in clients])
    sampler.stop.set()
    _join([sampling])
    ending.check_audit(stage)
    ending.check_rows(stage, reader)
    ending.check_placement(stage, reader, ratios)
    ending.check_services(stage, reader, services)
    for kind, status, number in reader.migrations():
        stage.figures.count(f'{kind} -> {status}', number)
    for what, number in stage.proxies.counts().items():
        stage.figures.count(what, number)


def _start(stage: soak_stage.Stage, work: Callable,
           *arguments: object) -> threading.Thread:
    """Start a function in a thread; count the function's error."""
    def watched() -> None:
        try:
            work(*arguments)
        except Exception as error:
            if stage.ended.is_set():
                # Interrupted: the processes of the run are gone.
                return
            stage.figures.violation('the run itself failed', str(work),
                                    repr(error))
            raise

    thread = threading.Thread(target=watched, daemon=True)
    thread.start()
    return thread


def _join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join()


def _wait(stage: soak_stage.Stage, seconds: float, allocations: int) -> None:
    began = time.monotonic()
    while ((left := began + seconds - time.monotonic()) > 0 and
           stage.figures.allocations() < allocations):
        time.sleep(min(60, left))
        _tell(stage, time.monotonic() - began)


def _tell(stage: soak_stage.Stage, seconds: float) -> None:
    """Print the progress of a run."""
    counts, made = stage.figures.counts, stage.figures.allocations()
    broken = sum(stage.proxies.counts().values())
    print(f'{seconds / 60:6.1f} min: {stage.figures.calls()} calls, '
          f'{made} allocations ({made / seconds:.2f}/s), '
          f'{counts["kills"]} kills, {broken} faults in connections, '
          f'{counts["samples"]} samples, '
          f'{counts["servers seen active"]} servers, '
          f'{stage.figures.broken()} violations', flush=True)


if __name__ == '__main__':
    sys.exit(main())
