# SPDX-License-Identifier: Apache-2.0

"""Print the metrics once, or serve the metrics."""

import signal
import sys
import threading

import prometheus_client

from pcloud.metrics import addresses
from pcloud.metrics import audits
from pcloud.metrics import collector
from pcloud.metrics import serving

_ENDS = (signal.SIGTERM, signal.SIGINT)


def once(directory: str | None, projects: int, audit: bool) -> None:
    """Print the metrics, as `collector.Collector` reads the metrics.

    :param audit: whether an audit is made before
    """
    audited = audits.Audits() if audit else None
    if audited is not None:
        audited.make()
    registry = collector.registry(
        collector.Collector(directory, projects, audited))
    sys.stdout.write(prometheus_client.generate_latest(registry).decode())


def serve(
    address: addresses.Address, directory: str | None, projects: int,
    interval: float | None,
) -> None:
    """Serve the metrics until the process gets SIGTERM or SIGINT.

    :param interval: seconds between audits, None for no audits
    :raises: `exception.Conflict`
    """
    audited = None if interval is None else audits.Audits()
    server = serving.bound(address, serving.App(collector.registry(
        collector.Collector(directory, projects, audited))))
    stop = threading.Event()
    for number in _ENDS:
        signal.signal(number, lambda *_: stop.set())
    if audited is not None and interval is not None:
        threading.Thread(target=audited.repeat, args=(interval, stop),
                         daemon=True).start()
    print(f'Serving at http://{serving.address_of(server)}/metrics',
          flush=True)
    serving.serve(server, stop)
