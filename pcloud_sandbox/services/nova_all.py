# SPDX-License-Identifier: Apache-2.0

"""All of Nova in one process: conductor, scheduler, computes and API.

Run as a program: ``python -m pcloud_sandbox.services.nova_all DIR``. The
services are Nova's own. The program starts the services as Nova's commands
do, but does not fork workers or wait for a service, as a command does for
the only service of a process.
"""

from nova import monkey_patch; monkey_patch.patch(backend='threading')  # noqa
import types

import logging as python_logging
import os
import signal
import sys
import threading

from nova.api.openstack import wsgi_app
from nova.compute import rpcapi as compute_rpcapi
from nova.conductor import rpcapi as conductor_rpcapi
import nova.conf
from nova import context
from nova import objects
from nova.objects import host_mapping
from nova.scheduler import rpcapi as scheduler_rpcapi
from nova import service
import os_vif
from oslo_log import log as logging
from werkzeug import serving

from pcloud.worker import loop
from pcloud_sandbox.configuration import config
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import ports
from pcloud_sandbox.configuration import settings
from pcloud_sandbox.configuration import sqlite
from pcloud_sandbox.services import identity

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

API = 'osapi_compute'
API_PROGRAM = 'nova-api-os-compute'


def exit_at_once(signum: int, frame: types.FrameType | None) -> None:
    """Handle SIGTERM.

    Nova's services would wait in turn for all work under way. No work in
    a sandbox is worth a wait.
    """
    os._exit(0)


def read_configuration(where: layout.Layout) -> None:
    """Do what each of Nova's commands does before starting a service."""
    os.environ['OS_NOVA_CONFIG_DIR'] = str(where.etc)
    os.environ['OS_NOVA_CONFIG_FILES'] = f'{config.NOVA_PASTE};nova.conf'
    # Options can be read only once, and the API insists on reading.
    wsgi_app.init_global_data(
        [str(where.etc / config.NOVA_PASTE), str(where.etc / 'nova.conf')],
        API, API_PROGRAM)
    os_vif.initialize()
    objects.Service.enable_min_version_cache()


def start_control() -> list[service.Service]:
    """Start the conductor and the scheduler."""
    started = []
    for binary, topic in (('nova-conductor', conductor_rpcapi.RPC_TOPIC),
                          ('nova-scheduler', scheduler_rpcapi.RPC_TOPIC)):
        nova_service = service.Service.create(binary=binary, topic=topic)
        nova_service.start()
        started.append(nova_service)
    return started


def start_compute(where: layout.Layout, host: str) -> service.Service:
    """Start a compute service.

    The host name and the state folder, which holds the node's identity, are
    global settings in Nova. Nova reads both settings while the service
    starts.
    """
    folder = where.host_data(host)
    folder.mkdir(parents=True, exist_ok=True)
    identity.keep(where, host)
    CONF.set_override('host', host)
    CONF.set_override('state_path', str(folder))
    try:
        nova_service = service.Service.create(
            host=host, binary='nova-compute',
            topic=compute_rpcapi.RPC_TOPIC,
            topic_alt=compute_rpcapi.RPC_TOPIC_ALT)
        nova_service.start()
    finally:
        CONF.clear_override('host')
        CONF.clear_override('state_path')
    return nova_service


def serve_api(port: int) -> None:
    """Serve the compute API until the process ends."""
    application = wsgi_app.init_application(API, API_PROGRAM)
    # Werkzeug logs each request; Nova's own middleware logs better.
    python_logging.getLogger('werkzeug').setLevel(python_logging.WARNING)
    server = serving.make_server(ports.HOST, port, application,
                                 threaded=True)
    LOG.info('Compute API listens on port %s', port)
    server.serve_forever()


def run(where: layout.Layout, chosen: settings.Settings) -> None:
    """Start all services, and serve the API until the process ends."""
    read_configuration(where)
    started = start_control()
    for host in chosen.host_names():
        started.append(start_compute(where, host))
        LOG.info('Compute host %s has started', host)
    host_mapping.discover_hosts(context.get_admin_context())
    # A process of its own could not send messages to this one.
    threading.Thread(target=loop.run, args=(
        settings.WORKER_INTERVAL, threading.Event()), daemon=True).start()
    serve_api(chosen.ports['nova'])


def main() -> None:
    """Run Nova for the sandbox in the folder sys.argv[1]."""
    where = layout.Layout(sys.argv.pop(1))
    chosen = settings.read(where).settings
    signal.signal(signal.SIGTERM, exit_at_once)
    sqlite.install()
    try:
        run(where, chosen)
    except Exception:
        LOG.exception('Nova cannot start')
    finally:
        # The services' threads would keep a failed process alive.
        os._exit(1)


if __name__ == '__main__':
    main()
