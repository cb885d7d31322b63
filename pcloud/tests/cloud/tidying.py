# SPDX-License-Identifier: Apache-2.0

"""Remove all that a run made on the cloud, found by the run's name.

The name of everything that a run makes begins with the name of the run, so a
run that was killed can be tidied up after, too::

    OS_CLOUD=... python -m pcloud.tests.cloud.tidying

removes what every run has left. No run may be under way meanwhile.
"""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import re
import typing

from pcloud.client import exceptions
from pcloud.tests.cloud import administrator
from pcloud.tests.cloud import computes
from pcloud.tests.cloud import users
from pcloud.tests.cloud import waiting

PREFIX = 'pcloud-test-'
_RUN = re.compile(rf'{PREFIX}[0-9a-f]{{8}}')


class Leftovers:
    """What a run made, and what is still there of it.

    :param run: the name of the run
    """

    def __init__(self, admin: users.User, run: str) -> None:
        self._admin = admin
        self._run = run

    def remove(self) -> None:
        """Remove everything; a step that fails does not stop the others.

        :raises: the error of a step that failed, or `AssertionError` when
            something is there still
        """
        # The last is done first.
        with contextlib.ExitStack() as steps:
            steps.callback(self._check)
            for step in (self._projects, self._users, self._flavors,
                         self._settings_of_projects, self._computes,
                         self._aggregates, self._attributes,
                         self.remove_resources):
                steps.callback(step)

    def remove_resources(self) -> None:
        """Remove the servers and the Pclouds of the run's projects."""
        projects = {each.id for each in self._named(_projects)}
        self._remove_servers(projects)
        pclouds = self._admin.pclouds
        for pcloud in pclouds.list_pclouds(all_tenants=True):
            if pcloud.owner in projects:
                for host in pclouds.list_hosts(pcloud.id):
                    pclouds.set_host_state(pcloud.id, host.name, 'disabled')
                    self._once_empty(projects, lambda: pclouds.remove_host(
                        pcloud.id, host.name))
                pclouds.delete_pcloud(pcloud.id)

    def _named(self, list_all: Callable) -> list[typing.Any]:
        return [each for each in list_all(self._admin)
                if _name(each).startswith(self._run)]

    def _remove_servers(self, projects: set[str]) -> None:
        def gone() -> bool:
            left = self._servers(projects)
            for each in left:
                self._admin.cloud.compute.delete_server(each)
            return not left

        waiting.until(
            gone, lambda: f'{self._servers(projects)} are being deleted')

    def _servers(self, projects: set[str]) -> list[typing.Any]:
        """Return the servers of the projects, and of the administrator."""
        compute = self._admin.cloud.compute
        found = [each for project in projects for each in compute.servers(
            details=False, all_projects=True, project_id=project)]
        return found + [each for each in compute.servers(details=False)
                        if _name(each).startswith(self._run)]

    def _once_empty(self, projects: set[str], act: Callable) -> None:
        """Do what is refused until the servers have left a host."""
        waiting.until_accepted(act, 'a host is given back',
                               lambda: self._remove_servers(projects))

    def _attributes(self) -> None:
        """Remove the attributes of the computes, which had none."""
        pclouds = self._admin.pclouds
        mine = {each.host for flavor in self._named(_host_flavors)
                for each in _pool(self._admin, flavor)}
        for each in pclouds.list_attributes():
            if hosts := mine & set(each.hosts):
                pclouds.unset_attribute(each.name, hosts)

    def _aggregates(self) -> None:
        compute = self._admin.cloud.compute
        for each in self._named(_aggregates):
            for host in each.hosts or ():
                compute.remove_host_from_aggregate(each, host)
            compute.delete_aggregate(each)

    def _computes(self) -> None:
        """Empty and delete the host flavors, and enable their computes."""
        pclouds = self._admin.pclouds
        projects = {each.id for each in self._named(_projects)}
        for flavor in self._named(_host_flavors):
            for each in _pool(self._admin, flavor):
                self._once_empty(projects, lambda: pclouds.remove_pool_host(
                    flavor.id, each.host))
                computes.enable(self._admin, [each.host])
            pclouds.delete_host_flavor(flavor.id)
        for service in self._named(_disabled):
            computes.enable(self._admin, [service.host])

    def _settings_of_projects(self) -> None:
        """Remove quotas and policies."""
        for project in self._named(_projects):
            self._admin.pclouds.delete_quota(project.id)
            self._remove_policy('project', project.id)
        self._remove_policy('role', self._run)

    def _remove_policy(self, scope: str, scope_id: str) -> None:
        with contextlib.suppress(exceptions.NotFound):
            self._admin.pclouds.delete_policy(scope, scope_id)

    def _flavors(self) -> None:
        for each in self._named(_flavors):
            self._admin.cloud.compute.delete_flavor(each)

    def _users(self) -> None:
        for each in self._named(_users):
            self._admin.cloud.identity.delete_user(each)

    def _projects(self) -> None:
        for each in self._named(_projects):
            # Who looks after a server that is stuck has to find the project.
            if not self._servers({each.id}):
                self._admin.cloud.identity.delete_project(each)

    def _check(self) -> None:
        left = [_name(each) for kind in KINDS for each in self._named(kind)]
        if left:
            raise AssertionError(f'{self._run} has left {left}')


def runs(admin: users.User) -> set[str]:
    """Return the names of the runs that have left something."""
    found = (_RUN.match(_name(each)) for kind in KINDS
             for each in kind(admin))
    return {match[0] for match in found if match}


def _projects(admin: users.User) -> Iterator:
    yield from admin.cloud.identity.projects(
        domain_id=admin.domain_id)


def _users(admin: users.User) -> Iterator:
    yield from admin.cloud.identity.users(domain_id=admin.domain_id)


def _flavors(admin: users.User) -> Iterator:
    yield from admin.cloud.compute.flavors(details=False, is_public=None)


def _aggregates(admin: users.User) -> Iterator:
    yield from admin.cloud.compute.aggregates()


def _host_flavors(admin: users.User) -> Iterator:
    yield from admin.pclouds.list_host_flavors()


def _disabled(admin: users.User) -> Iterator:
    """Yield the computes that were disabled, whose reason is a name."""
    for service in admin.cloud.compute.services(binary=computes.BINARY):
        if service.status == 'disabled':
            yield service


KINDS = (_projects, _users, _flavors, _aggregates, _host_flavors, _disabled)


def _name(thing: typing.Any) -> str:
    """Return the name by which a thing belongs to a run."""
    for attribute in ('disabled_reason', 'name', 'id'):
        if (name := getattr(thing, attribute, None)):
            return name
    return ''


def _pool(admin: users.User, flavor: typing.Any) -> list[typing.Any]:
    return admin.pclouds.get_host_flavor(flavor.id).hosts or []


def main() -> None:
    """Tidy up after every run that has left something."""
    admin = users.User(administrator.connect())
    for run in sorted(runs(admin)):
        print(f'Removing what {run} has left')
        Leftovers(admin, run).remove()


if __name__ == '__main__':
    main()
