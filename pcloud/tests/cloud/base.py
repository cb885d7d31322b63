# SPDX-License-Identifier: Apache-2.0

"""Tests of any cloud that has Pclouds, given or of our own."""

import os
import re
import typing
import unittest

from openstack import exceptions as sdk_exceptions

from pcloud.tests.cloud import stage
from pcloud.tests.cloud import waiting


class CloudTest(unittest.TestCase):
    """Users and hosts of the class's own, on the cloud under test.

    Servers and Pclouds are removed after each test, all else after the last.

    :cvar hosts: the number of hosts in the pool
    :cvar units: the units of a host
    :cvar stage: the users, the host flavor and the hosts
    :cvar unfit: why the tests are skipped, None in general
    """

    maxDiff = None
    hosts = 2
    units = 2
    stage: stage.Stage
    unfit: str | None = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stage = stage.Stage()
        cls.addClassCleanup(cls.stage.remove)
        try:
            cls.stage.build(cls.hosts, cls.units)
        except stage.Unfit as error:
            cls.unfit = str(error)

    def setUp(self):
        super().setUp()
        if self.unfit is not None:
            if os.environ.get('CI'):
                self.fail(self.unfit)
            self.skipTest(self.unfit)
        self.addCleanup(self.stage.clear)

    def call(self, expected: int, user: str, method: str, path: str,
             body: dict | None = None) -> typing.Any:
        """Make a call; the status is as expected; return the body."""
        answer = self.stage.users[user].call(method, path, body)
        told = f'{user}: {method} {path} {body}: {answer.text}'
        self.assertEqual(expected, answer.status_code, told)
        found = answer.json() if answer.content else None
        if expected >= 400:
            (fault,) = found.values()
            self.assertEqual(expected, fault['code'], told)
        if user != 'admin':
            self.assert_hidden(answer.text)
        return found

    def assert_hidden(self, text: str) -> None:
        """Assert that a text names none of the hosts in the pool."""
        for each in self.stage.computes:
            for name in {each.host, each.node}:
                self.assertNotRegex(text, rf'\b{re.escape(name)}\b')

    def new_pcloud(self, hosts: int = 0, name: str = 'shop') -> typing.Any:
        """Make a Pcloud of the owner with enabled hosts h1, h2, ..."""
        pclouds = self.stage.users['owner'].pclouds
        made = pclouds.create_pcloud(name)
        for number in range(1, hosts + 1):
            self.add_host(made, f'h{number}')
            pclouds.set_host_state(made.id, f'h{number}', 'enabled')
        return made

    def add_host(self, pcloud: typing.Any, name: str) -> None:
        """Add a host to a Pcloud of the owner.

        A host that a test before has given back is free when the last request
        of that test has ended.
        """
        pclouds = self.stage.users['owner'].pclouds
        waiting.until_accepted(
            lambda: pclouds.add_host(pcloud.id, name, self.stage.flavor_id),
            f'{name} is added')

    def real(self, pcloud: typing.Any, name: str) -> str:
        """Return the compute host behind a host of a Pcloud."""
        node = self.stage.admin.pclouds.get_host(
            pcloud.id, name).hypervisor_hostname
        return next(each.host for each in self.stage.computes
                    if each.node == node)

    def boot(self, user: str, *, flavor: typing.Any = None,
             members: dict | None = None, **hints: typing.Any) -> typing.Any:
        """Start a server, and return the server at the end of its start.

        :param members: further members of the request
        :param hints: the scheduler hints; an underscore behind the name of a
            hint is left out, for ``in`` is a word of Python
        """
        choice, who = self.stage.choice, self.stage.users[user]
        return who.settled(who.cloud.compute.create_server(
            name=f'{self.stage.name}-{user}', image_id=choice.image.id,
            flavor_id=(flavor or choice.flavor).id, networks=choice.networks,
            scheduler_hints={name.rstrip('_'): value
                             for name, value in hints.items()},
            **(members or {})))

    def started(self, user: str, **options: typing.Any) -> typing.Any:
        """Start a server, which becomes active, as in `boot`."""
        server = self.boot(user, **options)
        self.assertEqual(
            'ACTIVE', server.status,
            f'POST /servers of {user}, {options}: {server.fault}')
        return server

    def not_started(self, user: str, **options: typing.Any) -> str:
        """Start a server, which gets no host; return what the user is told.

        Hints that cannot be right, or are not for the user, are refused at
        once.
        """
        try:
            server = self.boot(user, **options)
        except (sdk_exceptions.BadRequestException,
                sdk_exceptions.ForbiddenException) as refusal:
            told = str(refusal)
        else:
            self.assertEqual('ERROR', server.status,
                             f'POST /servers of {user}, {options}')
            self.assertIsNone(self.host_of(server))
            told = server.fault['message']
        self.assert_hidden(told)
        return told

    def host_of(self, server: typing.Any) -> str | None:
        """Return the compute host of a server."""
        return self.stage.admin.cloud.compute.get_server(
            server.id).compute_host

    def pool(self) -> set[str]:
        """Return the compute hosts of the pool."""
        return {each.host for each in self.stage.computes}
