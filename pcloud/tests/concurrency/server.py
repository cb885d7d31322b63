# SPDX-License-Identifier: Apache-2.0

"""One API process: ``python -m pcloud.tests.concurrency.server ...``.

``nova CONFIG PORT`` serves Nova's API with Pcloud. ``faulty-nova CONFIG PORT``
serves the same API for requests that ask for the end of the process, and
``launching-nova CONFIG PORT`` for requests that start servers;
``alone-nova CONFIG PORT`` waits for no compute service. ``placement
CONFIG PORT`` serves Placement. ``glance CONFIG PORT`` serves Glance, with the
database ``glance.db`` beside the configuration. The started process only keeps
the socket; a child serves. A new child replaces a killed child, so that a test
can kill a child without waiting for Nova to load.
"""

import ctypes
import os
import signal
import socket
import sys

# Loads the threading of Nova, so it comes first.
import pcloud.tests.concurrency  # noqa: F401

_PR_SET_PDEATHSIG = 1


def _nova(config: str):
    from nova import config as nova_config
    from nova import objects
    from oslo_config import cfg
    from oslo_log import log as logging
    from paste import deploy

    nova_config.parse_args(['nova-api', '--config-file', config])
    logging.setup(cfg.CONF, 'nova')
    objects.register_all()
    return deploy.loadapp('config:' + cfg.CONF.wsgi.api_paste_config,
                          name='osapi_compute')


def _faulty_nova(config: str):
    from pcloud.tests.concurrency import faults

    application = _nova(config)
    faults.install()
    return application


def _launching_nova(config: str):
    from pcloud.tests.concurrency import neighbours

    application = _nova(config)
    neighbours.Neighbours().setUp()
    return application


def _alone_nova(config: str):
    """Serve as if each compute service answered that it is enabled."""
    from unittest import mock

    from nova.compute import rpcapi

    application = _nova(config)
    mock.patch.object(rpcapi.ComputeAPI, 'set_host_enabled').start()
    return application


def _placement(config: str):
    os.environ['OS_PLACEMENT_CONFIG_DIR'] = os.path.dirname(config)
    from placement import wsgi

    return wsgi.init_application()


def _glance(config: str):
    folder = os.environ['OS_GLANCE_CONFIG_DIR'] = os.path.dirname(config)
    from glance.db.sqlalchemy import models
    import sqlalchemy as sa

    models.BASE.metadata.create_all(
        sa.create_engine(f'sqlite:///{folder}/glance.db'))
    from glance.wsgi import api

    return api.application


def go_with_parent() -> None:
    """Have the kernel kill this process when the parent ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _serve(application, listener: socket.socket) -> None:
    """Serve in this process until the process is killed."""
    from werkzeug import serving

    go_with_parent()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    serving.WSGIRequestHandler.log_request = lambda *args: None
    serving.make_server(
        *listener.getsockname(), application, threaded=True,
        fd=listener.fileno()).serve_forever()


def main() -> None:
    """Keep a serving child running."""
    kind, config, port = sys.argv[1:]
    go_with_parent()
    listener = socket.create_server(('127.0.0.1', int(port)), backlog=128)
    listener.set_inheritable(True)
    application = {
        'nova': _nova, 'faulty-nova': _faulty_nova,
        'launching-nova': _launching_nova, 'alone-nova': _alone_nova,
        'placement': _placement, 'glance': _glance}[kind](config)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        child = os.fork()
        if child == 0:
            _serve(application, listener)
        os.waitpid(child, 0)


if __name__ == '__main__':
    main()
