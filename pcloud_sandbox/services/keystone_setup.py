# SPDX-License-Identifier: Apache-2.0

"""Make Keystone's database, users, projects, roles and endpoints.

Run as a program: ``python -m pcloud_sandbox.services.keystone_setup DIR``.
The program does in one process what ``keystone-manage db_sync`` and
``bootstrap`` and some dozens of ``openstack`` commands would do in some
dozens of processes.
"""

import sys
import uuid

from keystone.cmd import bootstrap
from keystone.common import provider_api
from keystone.common.sql import upgrades
import keystone.server

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings
from pcloud_sandbox.configuration import sqlite

PROVIDERS = provider_api.ProviderAPIs

# name -> (type, path below the service's root)
ENDPOINTS = {
    'placement': ('placement', ''),
    'glance': ('image', ''),
    'neutron': ('network', ''),
    'nova': ('compute', '/v2.1'),
}
HEAT_ENDPOINT = {'heat': ('orchestration', '/v1/%(project_id)s')}
INTERFACES = ('public', 'internal', 'admin')


def run_bootstrap(chosen: settings.Settings) -> bootstrap.Bootstrapper:
    """Do what ``keystone-manage bootstrap`` does, with the default roles."""
    worker = bootstrap.Bootstrapper()
    worker.admin_username = 'admin'
    worker.admin_password = chosen.password
    worker.project_name = 'admin'
    worker.admin_role_name = 'admin'
    worker.service_name = 'keystone'
    worker.public_url = chosen.auth_url
    worker.internal_url = chosen.auth_url
    worker.admin_url = chosen.auth_url
    worker.region_id = settings.REGION
    worker.immutable_roles = True
    worker.bootstrap()
    return worker


def create_project(name: str) -> str:
    """Create a project in the default domain, and return the id."""
    project_id = uuid.uuid4().hex
    PROVIDERS.resource_api.create_project(project_id, {
        'id': project_id, 'name': name, 'domain_id': settings.DOMAIN,
        'description': '', 'enabled': True})
    return project_id


def create_user(name: str, password: str, project_id: str,
                role_ids: list[str]) -> str:
    """Create a user of the default domain, with roles in a project.

    :returns: the user's id
    """
    user = PROVIDERS.identity_api.create_user({
        'name': name, 'password': password, 'domain_id': settings.DOMAIN,
        'default_project_id': project_id, 'enabled': True})
    for role_id in role_ids:
        PROVIDERS.assignment_api.add_role_to_user_and_project(
            user['id'], project_id, role_id)
    return user['id']


def let_into_projects(user_id: str, role_id: str) -> None:
    """Give a user a role in all projects of the default domain."""
    PROVIDERS.assignment_api.create_grant(
        role_id, user_id=user_id, domain_id=settings.DOMAIN,
        inherited_to_projects=True)


def create_endpoint(name: str, kind: str, url: str) -> None:
    """Create a service in the catalog, with one URL on all interfaces."""
    service_id = uuid.uuid4().hex
    PROVIDERS.catalog_api.create_service(service_id, {
        'id': service_id, 'name': name, 'type': kind, 'enabled': True})
    for interface in INTERFACES:
        endpoint_id = uuid.uuid4().hex
        PROVIDERS.catalog_api.create_endpoint(endpoint_id, {
            'id': endpoint_id, 'service_id': service_id, 'url': url,
            'interface': interface, 'enabled': True,
            'region_id': settings.REGION})


def main() -> None:
    """Set up Keystone for the sandbox in the folder sys.argv[1]."""
    where = layout.Layout(sys.argv.pop(1))
    chosen = settings.read(where).settings
    keystone.server.configure(config_files=[str(where.etc / 'keystone.conf')])
    sqlite.install()
    upgrades.offline_sync_database_to_version()

    roles = run_bootstrap(chosen)
    for name in settings.USERS:
        if name != 'admin':
            create_user(name, chosen.password, create_project(name),
                        [roles.member_role_id])
    services = create_project('service')
    endpoints = ENDPOINTS | (HEAT_ENDPOINT if chosen.heat else {})
    for name, (kind, path) in endpoints.items():
        user_id = create_user(name, chosen.password, services, [
            roles.admin_role_id, roles.service_role_id])
        if name == 'nova':
            # The worker starts and removes units of scaled services.
            let_into_projects(user_id, roles.member_role_id)
        create_endpoint(name, kind, chosen.url(name) + path)


if __name__ == '__main__':
    main()
