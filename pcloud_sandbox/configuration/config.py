# SPDX-License-Identifier: Apache-2.0

"""Write the services' configuration files from the templates in etc/."""

import base64
import importlib.resources
import secrets
import string

from pcloud_sandbox.configuration import clouds_yaml
from pcloud_sandbox.configuration import dashboard
from pcloud_sandbox.configuration import databases
from pcloud_sandbox.configuration import devstack
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import messaging
from pcloud_sandbox.configuration import paste
from pcloud_sandbox.configuration import ports
from pcloud_sandbox.configuration import settings

SERVICE_AUTH = """\
auth_type = password
auth_url = {auth_url}
password = {password}
user_domain_id = {domain}
project_domain_id = {domain}
project_name = service
region_name = {region}"""

AUTHTOKEN = """\
www_authenticate_uri = {auth_url}
service_token_roles = service
service_token_roles_required = true
"""

# Services name their objects in URLs: Nova asks Neutron for the ports of up to
# 150 servers at a time, and Placement for the hosts outside of all pools.
# A service that closes an idle connection resets a request that is on its way:
# a launch whose request to Placement is lost so has no valid host.
GUNICORN = """\
from pcloud_sandbox.services import gunicorn_hooks

wsgi_app = {application!r}
bind = {bind!r}
workers = {workers}
worker_class = 'gthread'
threads = 8
timeout = 120
graceful_timeout = 5
keepalive = 3600
control_socket_disable = True
limit_request_line = 0
limit_request_field_size = 65536
post_fork = gunicorn_hooks.{post_fork}
post_worker_init = gunicorn_hooks.post_worker_init
"""

# The settings of a service of Nova in a process of its own.
OWN = """\
[DEFAULT]
host = {host}
state_path = {folder}
"""

# More settings of a service in any cell but the first.
OWN_CELL = """\
transport_url = {transport_url}
[database]
connection = {database}
"""

NOVA_PASTE = 'api-paste.ini'

APPLICATIONS = {
    'keystone': 'keystone.wsgi.api:application',
    'placement': 'placement.wsgi.api:application',
    'glance': 'glance.wsgi.api:application',
    'neutron': 'neutron.wsgi.api:application',
    'nova': 'nova.wsgi.osapi_compute:application',
}
HEAT_APPLICATION = {'heat': 'pcloud_sandbox.services.heat:application()'}
# The default is one worker.
API_WORKERS = {'nova': 2}
# A host looks what it has in a third of a second of processor time, so that
# many hosts take a twentieth of a processor.
_SECONDS_A_HOST = 6
# The services whose only worker makes the tables of the service's models.
TABLES_OF_MODELS = ('placement', 'glance', 'neutron', 'heat')


def write_all(where: layout.Layout, chosen: settings.Settings) -> None:
    """Write every file that the services read, and make the folders."""
    where.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in where.folders():
        folder.mkdir(mode=0o700, exist_ok=True)
    write_keys(where)
    clouds_yaml.write(where, chosen)
    values = substitutions(where, chosen)
    templates = importlib.resources.files('pcloud_sandbox') / 'etc'
    for template in templates.iterdir():
        if template.name.endswith('.conf'):
            text = string.Template(template.read_text())
            (where.etc / template.name).write_text(text.substitute(values))
    (where.etc / NOVA_PASTE).write_text(
        paste.installed('nova', 'etc/nova/api-paste.ini').read_text())
    devstack.run_phase(['stack', 'post-config'], where.nova_conf,
                       where.etc / NOVA_PASTE, nova_filters='')
    applications = APPLICATIONS | (HEAT_APPLICATION if chosen.heat else {})
    for service, application in applications.items():
        folder = where.etc / service
        folder.mkdir(exist_ok=True)
        bind = f'{ports.HOST}:{chosen.ports[service]}'
        (folder / 'gunicorn.conf.py').write_text(GUNICORN.format(
            application=application, bind=bind,
            post_fork=post_fork(where, chosen, service),
            workers=API_WORKERS.get(service, 1)))
    if chosen.dashboard:
        dashboard.write(where, chosen)
    if chosen.separate:
        for host in settings.CONTROLLERS:
            write_own(where, chosen, host, cell=1)
        for cell in chosen.cell_numbers()[1:]:
            write_own(where, chosen, settings.cell_controller(cell), cell)
        for host in chosen.host_names():
            write_own(where, chosen, host, chosen.cell_of(host))


def post_fork(where: layout.Layout, chosen: settings.Settings,
              service: str) -> str:
    """Return the hook in which the worker of a service begins."""
    if service not in TABLES_OF_MODELS:
        return 'post_fork'
    url = databases.url(where, chosen, service)
    return f'post_fork_with_tables({service!r}, {url!r})'


def write_own(where: layout.Layout, chosen: settings.Settings, host: str,
              cell: int) -> None:
    """Write the settings of a single host of Nova."""
    folder = where.host_data(host)
    folder.mkdir(parents=True)
    path = where.host_conf(host)
    path.parent.mkdir(exist_ok=True)
    text = OWN.format(host=host, folder=folder)
    if cell > 1:
        text += OWN_CELL.format(
            transport_url=messaging.url(chosen, cell),
            database=databases.url(
                where, chosen, databases.cell_name(cell)))
    path.write_text(text)


def write_keys(where: layout.Layout) -> None:
    """Draw Keystone's keys for signing tokens and for sealing secrets."""
    for repository in ('fernet-keys', 'credential-keys'):
        for number in ('0', '1'):
            key = base64.urlsafe_b64encode(secrets.token_bytes(32))
            path = where.data / repository / number
            path.touch(mode=0o600)
            path.write_bytes(key)


def substitutions(where: layout.Layout,
                  chosen: settings.Settings) -> dict[str, str]:
    """Return placeholder -> value, for the templates."""
    names = {'auth_url': chosen.auth_url, 'password': chosen.password,
             'domain': settings.DOMAIN, 'region': settings.REGION}
    service_auth = SERVICE_AUTH.format(**names)
    return {
        **names,
        **{f'{name}_database': databases.url(where, chosen, name)
           for name in (*databases.NAMES, databases.HEAT)},
        'transport_url': messaging.url(chosen),
        'debug': str(chosen.debug).lower(),
        'resources_interval': str(max(60, _SECONDS_A_HOST * chosen.hosts)),
        'data': str(where.data),
        'nova_paste': str(where.etc / NOVA_PASTE),
        'glance_paste': str(paste.installed(
            'glance', 'etc/glance/glance-api-paste.ini')),
        'neutron_paste': str(paste.installed(
            'neutron', 'etc/neutron/api-paste.ini')),
        'glance_url': chosen.url('glance'),
        'service_auth': service_auth,
        'authtoken': AUTHTOKEN.format(**names) + service_auth,
    }
