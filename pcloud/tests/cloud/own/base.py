# SPDX-License-Identifier: Apache-2.0

"""A cloud of separate processes, and the cloud's users."""

import os
import unittest

import openstack

from pcloud.tests.cloud import administrator
from pcloud.tests.cloud import own_cloud
from pcloud.tests.cloud import users
from pcloud.tests.sandbox import base
from pcloud_sandbox.configuration import clouds_yaml
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings

# Seconds that a server may take to be active, or gone.
SERVER_TIMEOUT = 120


def skip(reason: str) -> None:
    """Skip the tests; fail the tests in CI.

    :raises: `unittest.SkipTest`, or `AssertionError` in CI
    """
    if os.environ.get('CI'):
        raise AssertionError(reason)
    raise unittest.SkipTest(reason)


class User(users.User):
    """A user of the cloud, who has a project of the same name."""

    def __init__(self, where: layout.Layout, name: str) -> None:
        super().__init__(administrator.log_in(
            own_cloud.clouds_of(where), clouds_yaml.cloud_name(name)))

    def boot(self, name: str, flavor: str = 'm1.tiny', **hints: str):
        """Start a server, and return before the server is active."""
        compute = self.cloud.compute
        return compute.create_server(
            name=name, networks='none',
            image_id=self.cloud.image.find_image('cirros').id,
            flavor_id=compute.find_flavor(flavor).id,
            scheduler_hints=hints)

    def settled(self, server):
        """Wait for the end of a server's start, and return the server.

        The server is then active or in error.
        """
        compute = self.cloud.compute
        try:
            return compute.wait_for_server(
                server, interval=0.5, wait=SERVER_TIMEOUT)
        except openstack.exceptions.ResourceFailure:
            return compute.get_server(server)

    def delete(self, servers) -> None:
        """Delete servers, and wait until all servers are gone."""
        for server in servers:
            self.cloud.compute.delete_server(server)
        for server in servers:
            self.cloud.compute.wait_for_delete(
                server, interval=0.5, wait=SERVER_TIMEOUT)


class OwnCloudTest(base.SharedSandboxTest):
    """One cloud for all tests of a class.

    :cvar hosts: number of compute hosts
    :cvar database: the URL of the cloud's MariaDB
    :cvar messaging: the URL of the cloud's RabbitMQ
    :cvar users: name -> user
    """

    hosts = 4
    database = own_cloud.DATABASE
    messaging = own_cloud.MESSAGING

    @classmethod
    def setUpClass(cls):
        cls.up_options = ('--hosts', str(cls.hosts),
                          '--database', cls.database,
                          '--messaging', cls.messaging)
        super().setUpClass()
        status, _, told = cls.started
        assert status == 0, told
        cls.where = layout.Layout(cls.folder)
        cls.log_in()

    @classmethod
    def log_in(cls):
        """Log all users in again, with new connections."""
        cls.users = {name: User(cls.where, name)
                     for name in settings.USERS}

    @classmethod
    def fill_pool(cls, flavor_id, hosts, units=1):
        """Make a host flavor with hosts in the pool."""
        admin = cls.users['admin']
        admin.pclouds.create_host_flavor(flavor_id, units)
        for host in hosts:
            cls._set_service(host, 'disable')
            admin.pclouds.add_pool_host(flavor_id, host)

    def host_of(self, server):
        """Return the real host of a server."""
        return self.users['admin'].cloud.compute.get_server(
            server).compute_host

    def new_pcloud(self, name, flavor_id, hosts=1):
        """Make a Pcloud of Alice's with enabled hosts h1, h2, ..."""
        pclouds = self.users['alice'].pclouds
        made = pclouds.create_pcloud(name)
        for number in range(1, hosts + 1):
            pclouds.add_host(made.id, f'h{number}', flavor_id)
            pclouds.set_host_state(made.id, f'h{number}', 'enabled')
        return made

    def remove_pcloud(self, pcloud):
        """Delete a Pcloud of `new_pcloud`, with all hosts."""
        pclouds = self.users['alice'].pclouds
        for host in pclouds.list_hosts(pcloud.id):
            pclouds.set_host_state(pcloud.id, host.name, 'disabled')
            pclouds.remove_host(pcloud.id, host.name)
        pclouds.delete_pcloud(pcloud.id)

    def empty_pool(self, flavor_id):
        """Delete a host flavor of `fill_pool`, and enable the hosts."""
        admin = self.users['admin']
        for host in admin.pclouds.get_host_flavor(flavor_id).hosts:
            admin.pclouds.remove_pool_host(flavor_id, host.host)
            self._set_service(host.host, 'enable')
        admin.pclouds.delete_host_flavor(flavor_id)

    @classmethod
    def _set_service(cls, host, act):
        compute = cls.users['admin'].cloud.compute
        service, = compute.services(host=host, binary='nova-compute')
        getattr(compute, f'{act}_service')(service, host, service.binary)
