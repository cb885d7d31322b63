# SPDX-License-Identifier: Apache-2.0

"""A user of the cloud under test, with the user's project."""

import typing

import openstack
import requests

from pcloud.client import v1
from pcloud.tests.cloud import waiting


class User:
    """A user who is logged in to a project.

    :ivar cloud: openstacksdk's connection
    :ivar pclouds: the client of Pcloud's API
    :ivar project_id: the id of the project
    :ivar domain_id: the id of the project's domain
    """

    def __init__(self, cloud: openstack.connection.Connection) -> None:
        self.cloud = cloud
        self.pclouds = v1.Client.from_adapter(cloud.compute)
        access = cloud.session.auth.get_access(cloud.session)
        self.project_id = access.project_id
        self.domain_id = access.project_domain_id

    def call(
        self, method: str, path: str, body: dict | None = None,
    ) -> requests.Response:
        """Make a call of the compute API and return any response."""
        return self.cloud.compute.request(
            path, method, json=body, raise_exc=False)

    def settled(self, server: typing.Any) -> typing.Any:
        """Wait until a server is active or in error; return the server."""
        compute = self.cloud.compute

        def look():
            found = compute.get_server(server.id)
            return found.status in ('ACTIVE', 'ERROR') and found

        return waiting.until(
            look, lambda: f'server {server.name} is '
                          f'{compute.get_server(server.id).status}')

    def environment(self) -> dict[str, str]:
        """Return the variables with which commands act as the user."""
        known = self.cloud.config
        values = {
            'auth_type': known.config['auth_type'],
            **known.config['auth'],
            'region_name': known.get_region_name('compute'),
            'interface': known.get_interface('compute'),
            'cacert': known.config.get('cacert'),
            'identity_api_version': '3',
            'compute_api_version': '2.latest',
        }
        variables = {f'OS_{name.upper()}': str(value)
                     for name, value in values.items() if value}
        if not known.config.get('verify', True):
            variables['OS_INSECURE'] = 'true'
        return variables
