# SPDX-License-Identifier: Apache-2.0

"""A cloud whose hosts have real hypervisors, and the tests' steps there."""

import contextlib
import functools
import os
import signal
import typing
import unittest

from openstack import exceptions as sdk_exceptions
import psutil

from pcloud.client import exceptions
from pcloud.tests.cloud import administrator
from pcloud.tests.cloud.own import audit
from pcloud.tests.cloud import own_cloud
from pcloud.tests.cloud import users
from pcloud.tests.cloud import waiting
from pcloud.tests.hypervisors import guests
from pcloud_sandbox.configuration import clouds_yaml
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import parts
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors
from pcloud_sandbox.hypervisors import machine
from pcloud_sandbox import launcher
from pcloud_sandbox.running import processes

# A sandbox that is up, for whoever writes a test.
_RUNNING = 'PCLOUD_TEST_SANDBOX'
HOSTS = 3
FLAVOR = 'qemu'


@functools.cache
def cloud() -> layout.Layout:
    """Start the cloud of all tests, whose hosts are all in one pool.

    :raises SandboxError: this machine cannot run hypervisors
    """
    given = os.environ.get(_RUNNING)
    if given:
        where = layout.Layout(given)
    else:
        machine.check(layout.Layout(layout.default_directory()))
        where = own_cloud.start_with('--hypervisors', str(HOSTS))
    admin = log_in(where, 'admin')
    if FLAVOR in {each.id for each in admin.pclouds.list_host_flavors()}:
        return where
    admin.pclouds.create_host_flavor(FLAVOR, 2)
    compute = admin.cloud.compute
    for host in host_names(where):
        service, = compute.services(host=host, binary='nova-compute')
        compute.disable_service(service, host, service.binary)
        admin.pclouds.add_pool_host(FLAVOR, host)
    return where


def host_names(where: layout.Layout) -> list[str]:
    """Return the names of the cloud's hosts."""
    return settings.read(where).settings.host_names()


def log_in(where: layout.Layout, name: str) -> users.User:
    """Log in as a user of the cloud."""
    return users.User(administrator.log_in(
        own_cloud.clouds_of(where), clouds_yaml.cloud_name(name)))


class HypervisorTest(unittest.TestCase):
    """A Pcloud of Alice's for each test, on hosts with real hypervisors.

    :cvar where: the files of the cloud
    :cvar admin: the administrator
    :cvar owner: Alice
    :ivar pcloud: the Pcloud, with hosts h1, h2, ...
    """

    maxDiff = None
    where: layout.Layout
    admin: users.User
    owner: users.User

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            cls.where = cloud()
        except errors.SandboxError as error:
            if os.environ.get('CI'):
                raise
            raise unittest.SkipTest(str(error)) from error
        cls.admin, cls.owner = (log_in(cls.where, name)
                                for name in ('admin', 'alice'))
        image = cls.owner.cloud.image.find_image('counter')
        cls.image_id = image.id
        cls.flavors = {each.name: each.id for each
                       in cls.owner.cloud.compute.flavors()}

    def setUp(self):
        super().setUp()
        self.pcloud = self.owner.pclouds.create_pcloud('shop')
        self.addCleanup(self.tidy)

    def tidy(self):
        """Have all hosts up, and delete the servers and the Pcloud."""
        self.repair()
        compute = self.owner.cloud.compute

        def gone() -> bool:
            left = list(compute.servers())
            for each in left:
                if each.task_state == 'deleting':
                    continue
                # The server may go meanwhile.
                with contextlib.suppress(sdk_exceptions.NotFoundException):
                    if each.is_locked:
                        compute.unlock_server(each)
                    compute.delete_server(each)
            return not left

        waiting.until(gone, 'the servers are gone')
        pclouds = self.owner.pclouds
        for host in self.names():
            pclouds.set_host_state(self.pcloud.id, host, 'disabled')
            waiting.until_accepted(
                lambda: self._remove(host), f'{host} is given back')
        pclouds.delete_pcloud(self.pcloud.id)
        self.enable_computes()

    def _remove(self, host: str) -> None:
        try:
            self.owner.pclouds.remove_host(self.pcloud.id, host)
        except exceptions.NotFound:
            # A host that stands in leaves by itself.
            pass

    def repair(self) -> None:
        """Start what does not run any more, and have all hosts up."""
        for host in host_names(self.where):
            for part in (parts.hypervisor(host), f'nova-compute-{host}'):
                if self.process(part) is None:
                    launcher.start_service(self.where, part)
            self.admin.pclouds.set_fenced(FLAVOR, host, False)
            self.admin.pclouds.unset_maintenance(FLAVOR, host)
        compute = self.admin.cloud.compute
        waiting.until(lambda: all(
            each.state == 'up'
            for each in compute.services(binary='nova-compute')),
            'all hosts are up')

    def enable_computes(self) -> None:
        """Enable the hosts; a host that has failed returns disabled."""
        compute = self.admin.cloud.compute
        for each in compute.services(binary='nova-compute'):
            if each.status == 'disabled':
                compute.enable_service(each, each.host, each.binary)

    def process(self, part: str) -> psutil.Process | None:
        """Return the process of a part of the cloud, None if ended."""
        known = settings.read(self.where).processes.get(part)
        return processes.find(known)

    def kill(self, part: str) -> None:
        """Kill the process of a part of the cloud, and what is below."""
        process = self.process(part)
        process.send_signal(signal.SIGKILL)
        waiting.until(lambda: self.process(part) is None, f'{part} is dead')

    def inside(self, host: str, program: str) -> list[psutil.Process]:
        """Return the processes of a host's hypervisor that run a program."""
        return [each for each in self.process(parts.hypervisor(host)).children(
            recursive=True) if each.name().startswith(program[:15])]

    def new_hosts(self, count: int) -> None:
        """Add enabled hosts h1, h2, ... to the Pcloud."""
        for number in range(1, count + 1):
            self.add_host(f'h{number}')

    def add_host(self, name: str, zone: str | None = None) -> None:
        """Add an enabled host, once a host has settled.

        A host that has just been given back is free when the last request of
        the test before has ended.
        """
        pclouds = self.owner.pclouds
        waiting.until_accepted(
            lambda: pclouds.add_host(self.pcloud.id, name, FLAVOR,
                                     availability_zone=zone),
            f'{name} is added')
        pclouds.set_host_state(self.pcloud.id, name, 'enabled')

    def names(self) -> list[str]:
        """Return the owner's names of the hosts."""
        return [each.name for each
                in self.owner.pclouds.list_hosts(self.pcloud.id)]

    def real(self, name: str) -> str:
        """Return the real host behind a host of the Pcloud."""
        return self.admin.pclouds.get_host(
            self.pcloud.id, name).hypervisor_hostname

    def boot(self, flavor: str = 'm1.nano', **hints: str) -> typing.Any:
        """Start a server, and return the server in the end."""
        return self.owner.settled(self.owner.cloud.compute.create_server(
            name='guest', image_id=self.image_id, networks='none',
            flavor_id=self.flavors[flavor], scheduler_hints=hints))

    def started(self, flavor: str = 'm1.nano', **hints: str) -> typing.Any:
        """Start a server in the Pcloud, which becomes active."""
        server = self.boot(flavor, pcloud=self.pcloud.id, **hints)
        self.assertEqual('ACTIVE', server.status, server.fault)
        return server

    def counting(self, count: int, **hints: str) -> list[typing.Any]:
        """Start servers in the Pcloud whose guests count."""
        servers = [self.started(**hints) for _ in range(count)]
        for each in servers:
            guests.tick(self.owner, each)
        return servers

    def shown(self, server: typing.Any) -> typing.Any:
        """Return a server as the administrator sees the server."""
        return self.admin.cloud.compute.get_server(server.id)

    def host_of(self, server: typing.Any) -> str | None:
        """Return the real host of a server."""
        return self.shown(server).compute_host

    def wait_for(self, server: typing.Any, status: str) -> None:
        """Wait until a server has a status, and no task."""
        def look() -> bool:
            now = self.shown(server)
            if now.status == 'ERROR' and status != 'ERROR':
                raise AssertionError(f'{server.id}: {now.fault}')
            return now.status == status and now.task_state is None

        waiting.until(look, lambda: f'{server.id} is {status}: '
                                    f'{self.shown(server).status}')

    def last(self, server: typing.Any) -> guests.Tick:
        """Wait for a tick of a server, and return the last tick."""
        return guests.tick(self.owner, server)

    def assert_went_on(self, server: typing.Any, before: guests.Tick) -> None:
        """Assert that a guest counts on, and was never started anew."""
        now = guests.next_tick(self.owner, server, before)
        self.assertEqual((before.boot, before.disk, before.boots),
                         (now.boot, now.disk, now.boots))

    def assert_started_again(self, server: typing.Any,
                             before: guests.Tick) -> guests.Tick:
        """Assert that a guest was started once more, with its disk."""
        now = guests.other_boot(self.owner, server, before)
        self.assertEqual((before.disk, before.boots + 1),
                         (now.disk, now.boots))
        return now

    def assert_built_anew(self, server: typing.Any,
                          before: guests.Tick) -> None:
        """Assert that a guest was started with a disk from the image."""
        now = guests.other_boot(self.owner, server, before)
        self.assertNotEqual(before.disk, now.disk)
        self.assertEqual(1, now.boots)

    def assert_audit(self) -> None:
        """Assert that the audit of the cloud has no finding."""
        self.assertEqual((0, []), audit.run(self.where))
