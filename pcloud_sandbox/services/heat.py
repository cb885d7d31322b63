# SPDX-License-Identifier: Apache-2.0

"""All of Heat in one process of gunicorn: the engine and the API.

Both are Heat's own, and speak with each other within the process.
"""

import os
import pathlib
import typing

# Heat's command has oslo.service use threads; the import comes first.
from heat.cmd import engine  # noqa: F401
from heat.common import config
from heat.common import messaging
from heat.engine import service
from heat.rpc import api as rpc_api
from oslo_config import cfg
from oslo_log import log as logging

from pcloud_heat import plugins
from pcloud_sandbox.configuration import paste

CONF = cfg.CONF


def application() -> typing.Callable:
    """Start the engine, and return the API."""
    logging.register_options(CONF)
    folder = pathlib.Path(os.environ['OS_HEAT_CONFIG_DIR'])
    # The API is loaded by the name of the program.
    CONF(['--config-file', str(folder / 'heat.conf')],
         project='heat', prog='heat-api')
    CONF.set_override('plugin_dirs', list(plugins.__path__))
    CONF.set_override(
        'api_paste_config', str(paste.installed(
            'openstack-heat', 'etc/heat/api-paste.ini')), 'paste_deploy')
    logging.setup(CONF, 'heat')
    config.set_config_defaults()
    messaging.setup()
    service.EngineService(CONF.host, rpc_api.ENGINE_TOPIC).start()
    return config.load_paste_app()
