# SPDX-License-Identifier: Apache-2.0

"""Services of Nova: ``python -m pcloud.tests.concurrency.services ...``.

``control CONFIG`` runs a conductor and a scheduler, ``conductor CONFIG`` a
conductor, and ``scheduler CONFIG HOST`` a further scheduler. ``computes CONFIG
HOST...`` runs compute services with a driver of `hypervisors`.
"""

from collections.abc import Callable
import os
import pathlib
import signal
import sys

import pcloud.tests.concurrency  # noqa: F401

# Loads the threading of Nova before any module of Nova.
from nova.compute import rpcapi as compute_rpcapi  # noqa: E402
from nova.conductor import rpcapi as conductor_rpcapi
from nova import config as nova_config
from nova import objects
from nova.scheduler import rpcapi as scheduler_rpcapi
from nova import service
from oslo_config import cfg
from oslo_log import log as logging

from pcloud.tests.concurrency import hypervisors
from pcloud.tests.concurrency import neighbours
from pcloud.tests.concurrency import server

CONF = cfg.CONF


def _start_conductor(config: str) -> None:
    service.Service.create(
        binary='nova-conductor', topic=conductor_rpcapi.RPC_TOPIC).start()


def _start_scheduler(config: str, *hosts: str) -> None:
    for host in hosts:
        # Each scheduler is asked by its own name too.
        CONF.set_override('host', host)
    service.Service.create(
        binary='nova-scheduler', topic=scheduler_rpcapi.RPC_TOPIC).start()


def _start_control(config: str) -> None:
    _start_conductor(config)
    _start_scheduler(config)


def _start_computes(config: str, *hosts: str) -> None:
    for host in hosts:
        _start_compute(host, pathlib.Path(config).parent)


def _start_compute(host: str, folder: pathlib.Path) -> None:
    # Nova reads both options while a service starts, and keeps the node's
    # identity in the folder.
    state = folder / host
    state.mkdir(exist_ok=True)
    CONF.set_override('host', host)
    CONF.set_override('state_path', str(state))
    service.Service.create(
        host=host, binary='nova-compute', topic=compute_rpcapi.RPC_TOPIC,
        topic_alt=compute_rpcapi.RPC_TOPIC_ALT).start()


_KINDS: dict[str, Callable[..., None]] = {
    'control': _start_control, 'conductor': _start_conductor,
    'scheduler': _start_scheduler, 'computes': _start_computes}


def main() -> None:
    """Start services, and run until the process is killed."""
    kind, config, *hosts = sys.argv[1:]
    server.go_with_parent()
    nova_config.parse_args(['nova', '--config-file', config])
    logging.setup(CONF, 'nova')
    objects.register_all()
    neighbours.Neighbours().setUp()
    hypervisors.load()
    _KINDS[kind](config, *hosts)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    while True:
        signal.pause()


if __name__ == '__main__':
    try:
        main()
    finally:
        # The threads of services would keep a failed process alive.
        os._exit(1)
