# SPDX-License-Identifier: Apache-2.0

"""Write the files of Horizon."""

import importlib.resources
import secrets

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import ports
from pcloud_sandbox.configuration import settings

SETTINGS = """\
ALLOWED_HOSTS = [{host!r}, 'localhost']
CACHES = {{'default': {{
    'BACKEND': 'django.core.cache.backends.locmem.LocMemCache'}}}}
COMPRESS_OFFLINE = True
LOGGING = {{
    'version': 1, 'disable_existing_loggers': False,
    'handlers': {{'console': {{'class': 'logging.StreamHandler'}}}},
    'root': {{'handlers': ['console'], 'level': 'WARNING'}}}}
OPENSTACK_KEYSTONE_DEFAULT_DOMAIN = 'Default'
OPENSTACK_KEYSTONE_URL = {auth_url!r}
SECRET_KEY = {key!r}
# A token with its catalog does not fit into a cookie.
SESSION_ENGINE = 'django.contrib.sessions.backends.file'
SESSION_FILE_PATH = {sessions!r}
STATIC_ROOT = {static!r}
WEBROOT = '/'
"""

# One process, for the cache is in its memory.
GUNICORN = """\
from pcloud_sandbox.services import dashboard_files
from pcloud_sandbox.services import gunicorn_hooks

dashboard_files.use({folder!r})
wsgi_app = 'pcloud_sandbox.services.dashboard_files:application()'
bind = {bind!r}
worker_class = 'gthread'
threads = 8
timeout = 120
graceful_timeout = 5
control_socket_disable = True
post_fork = gunicorn_hooks.post_fork
"""


def write(where: layout.Layout, chosen: settings.Settings) -> None:
    """Write the settings of Horizon, and switch the panels of Pcloud on.

    The files of the panels are copied, as an operator copies them.
    """
    enabled = where.dashboard / 'local' / 'enabled'
    sessions = where.data / 'dashboard-sessions'
    static = where.data / 'dashboard-static'
    for folder in (enabled, sessions, static):
        folder.mkdir(mode=0o700, parents=True)
    (enabled.parent / '__init__.py').touch()
    (enabled.parent / 'local_settings.py').write_text(SETTINGS.format(
        host=ports.HOST, auth_url=chosen.auth_url,
        key=secrets.token_hex(32), sessions=str(sessions),
        static=str(static)))
    shipped = importlib.resources.files('pcloud_dashboard') / 'enabled'
    for source in shipped.iterdir():
        if source.name.startswith('_') and source.name[1].isdigit():
            (enabled / source.name).write_text(source.read_text())
    (where.dashboard / 'gunicorn.conf.py').write_text(GUNICORN.format(
        folder=str(where.dashboard),
        bind=f'{ports.HOST}:{chosen.ports["horizon"]}'))
