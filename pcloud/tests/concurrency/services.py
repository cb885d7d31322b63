# SPDX-License-Identifier: Apache-2.0

"""Services of Nova: ``python -m pcloud.tests.concurrency.services ...``.

``control CONFIG`` runs a conductor and a scheduler. ``computes CONFIG
HOST...`` runs compute services whose builds are slow and often fail late.
"""

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
from nova.virt import fake
from oslo_config import cfg
from oslo_log import log as logging

from pcloud.tests.concurrency import neighbours
from pcloud.tests.concurrency import server
from pcloud.tests.support import driver

CONF = cfg.CONF


def _start_control() -> list[service.Service]:
    return [service.Service.create(binary=binary, topic=topic)
            for binary, topic in (
                ('nova-conductor', conductor_rpcapi.RPC_TOPIC),
                ('nova-scheduler', scheduler_rpcapi.RPC_TOPIC))]


def _start_compute(host: str, folder: pathlib.Path) -> service.Service:
    # Nova reads both options while a service starts, and keeps the node's
    # identity in the folder.
    state = folder / host
    state.mkdir()
    CONF.set_override('host', host)
    CONF.set_override('state_path', str(state))
    made = service.Service.create(
        host=host, binary='nova-compute', topic=compute_rpcapi.RPC_TOPIC,
        topic_alt=compute_rpcapi.RPC_TOPIC_ALT)
    made.start()
    return made


def main() -> None:
    """Start services, and run until the process is killed."""
    kind, config, *hosts = sys.argv[1:]
    server.go_with_parent()
    nova_config.parse_args(['nova', '--config-file', config])
    logging.setup(CONF, 'nova')
    objects.register_all()
    neighbours.Neighbours().setUp()
    # Nova loads drivers from below nova.virt only.
    fake.LateDriver = driver.LateDriver
    if kind == 'control':
        started = _start_control()
        for each in started:
            each.start()
    else:
        started = [_start_compute(host, pathlib.Path(config).parent)
                   for host in hosts]
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    while started:
        signal.pause()


if __name__ == '__main__':
    try:
        main()
    finally:
        # The threads of services would keep a failed process alive.
        os._exit(1)
