# SPDX-License-Identifier: Apache-2.0

"""What a class of tests makes on the cloud: users, host flavor, computes."""

import atexit
from collections.abc import Iterator
import contextlib
import secrets
import signal
import typing

from openstack import exceptions as sdk_exceptions

from pcloud.client import exceptions
from pcloud.tests.cloud import administrator
from pcloud.tests.cloud import computes
from pcloud.tests.cloud import options
from pcloud.tests.cloud import server_choice
from pcloud.tests.cloud import tidying
from pcloud.tests.cloud import users

# Each is a user and the user's only project.
ROLES = ('owner', 'tenant', 'stranger')
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Unfit(Exception):
    """The cloud has too few hosts for the tests."""


class Stage:
    """Users, and hosts in the pool of a host flavor, for the tests of a class.

    The stage is removed when the process ends by a signal, too.

    :ivar name: the name of the run; all names begin with this name
    :ivar users: 'admin' and each of `ROLES` -> user
    :ivar flavor_id: the id of the host flavor
    :ivar computes: the hosts in the pool
    :ivar choice: what servers are made from
    """

    def __init__(self) -> None:
        self.name = f'{tidying.PREFIX}{secrets.token_hex(4)}'
        self.flavor_id = f'{self.name}-hosts'
        self.computes: list[computes.Compute] = []
        self.users = {'admin': users.User(administrator.connect())}
        self.choice = server_choice.choose(self.admin.cloud)
        self._leftovers = tidying.Leftovers(self.admin, self.name)
        self._has_begun = False

    @property
    def admin(self) -> users.User:
        """The administrator."""
        return self.users['admin']

    def build(self, hosts: int, units: int) -> None:
        """Make the users and the host flavor with hosts.

        :param hosts: the number of hosts in the pool
        :param units: the units of a host
        :raises Unfit: the cloud has too few hosts that are empty
        :raises: `AssertionError` when the administrator is none
        """
        with _told_plainly():
            self._check_hosts(hosts)
            self._begin()
            for role in ROLES:
                self.users[role] = self._new_user(role)
            owner, pclouds = self.users['owner'], self.admin.pclouds
            pclouds.update_quota(owner.project_id, -1)
            pclouds.create_host_flavor(self.flavor_id, units)
            self.computes += computes.take(
                self.admin, self.flavor_id, hosts, self.name)
        self._check_hosts(0)
        if len(self.computes) < hosts:
            raise Unfit(f'needs {hosts} empty compute hosts, and the cloud '
                        f'has {len(self.computes)}{_of_the_chosen()}')

    def _begin(self) -> None:
        """See to it that whatever is made is removed."""
        for number in _ENDINGS[1:]:
            signal.signal(number, signal.default_int_handler)
        atexit.register(self._remove_at_exit)
        self._has_begun = True

    def remove(self) -> None:
        """Remove all that was made; the hosts are as they were."""
        if not self._has_begun:
            return
        try:
            self._leftovers.remove()
        finally:
            # A test may have taken a host out of the pool, too.
            computes.enable(
                self.admin, [each.host for each in self.computes])
            atexit.unregister(self._remove_at_exit)

    def clear(self) -> None:
        """Remove all servers and Pclouds."""
        self._leftovers.remove_resources()

    def new_flavor(self, **extra_specs: str) -> typing.Any:
        """Make a flavor as large as the chosen flavor, with extra specs.

        A colon of an extra spec is written as two underscores.
        """
        made = self.new_flavor_of(self.choice.flavor.ram)
        self.admin.cloud.compute.create_flavor_extra_specs(made, {
            name.replace('__', ':'): value
            for name, value in extra_specs.items()})
        return made

    def new_flavor_of(self, memory: int) -> typing.Any:
        """Make a flavor like the chosen flavor, with other memory, in MiB."""
        like = self.choice.flavor
        return self.admin.cloud.compute.create_flavor(
            name=f'{self.name}-{secrets.token_hex(4)}', ram=memory,
            vcpus=like.vcpus, disk=like.disk)

    def new_aggregate(self, host: str, metadata: dict[str, str]) -> None:
        """Make an aggregate with a host, as an administrator does by hand."""
        compute = self.admin.cloud.compute
        made = compute.create_aggregate(
            name=f'{self.name}-{secrets.token_hex(4)}')
        compute.set_aggregate_metadata(made, metadata)
        compute.add_host_to_aggregate(made, host)

    def _check_hosts(self, hosts: int) -> None:
        """Check that a host is left on which everybody's servers start."""
        left = len(computes.usable(self.admin)) - hosts
        if left < 1:
            raise Unfit(
                f'needs {hosts + 1} compute hosts that are up, enabled and in '
                'no aggregate with metadata, one of which stays outside of '
                f'pools; the cloud has {left + hosts}')

    def _new_user(self, role: str) -> users.User:
        identity, domain = self.admin.cloud.identity, self.admin.domain_id
        name, password = f'{self.name}-{role}', secrets.token_urlsafe(24)
        project = identity.create_project(
            name=name, domain_id=domain, description='Tests of Pcloud')
        user = identity.create_user(
            name=name, domain_id=domain, password=password)
        identity.assign_project_role_to_user(
            project, user, identity.find_role('member', False))
        return users.User(administrator.connect_as(
            user.id, password, project.id))

    def _remove_at_exit(self) -> None:
        # Ctrl-C twice, or a second signal of who waits for the end.
        for number in _ENDINGS:
            signal.signal(number, signal.SIG_IGN)
        self.remove()


@contextlib.contextmanager
def _told_plainly() -> Iterator[None]:
    try:
        yield
    except (sdk_exceptions.ForbiddenException,
            exceptions.Forbidden) as refusal:
        raise AssertionError(
            'OS_CLOUD has to name an administrator of Nova and of Keystone, '
            'who makes projects and users for the tests. This one may not: '
            f'{refusal}') from refusal


def _of_the_chosen() -> str:
    chosen = options.computes()
    return '' if chosen is None else (
        f' among PCLOUD_TEST_COMPUTES={",".join(sorted(chosen))}')
