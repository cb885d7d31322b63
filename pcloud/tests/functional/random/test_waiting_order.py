# SPDX-License-Identifier: Apache-2.0

"""Hosts are given back at random, and go to who is next in the waiting list.

The test keeps books of its own about units, shares and the order.
"""

import datetime
import random

from nova import context as nova_context
from oslo_utils import fixture as utils_fixture
from oslo_utils import timeutils

from pcloud.audit import all_checks
from pcloud.objects.changing_hands import matching
from pcloud.tests.functional.quick import test_api

PROJECTS, HOSTS, FREED = 16, 12, 100
_SHARES = 0.5, 1, 1, 2, 4


class Project:
    """A project with a Pcloud, and what the test knows of the project.

    :ivar hosts: the owner's names of the project's hosts
    :ivar entry: (moment, id) of the entry in the waiting list, or None
    """

    def __init__(self, number, share):
        # As Keystone makes ids.
        self.id, self.share = f'{number:032x}', share
        self.hosts, self.entry, self.named = set(), None, 0

    @property
    def place(self):
        """What decides when the project is served; the least comes first."""
        return len(self.hosts) / self.share, *self.entry


class WaitingOrderTest(test_api.ApiTestCase):

    own_cloud = True
    hosts = {f'node-{number}': 'az1' for number in range(HOSTS)}

    def setUp(self):
        super().setUp()
        self.chance = random.Random(1)
        self.clock = self.useFixture(
            utils_fixture.TimeFixture(timeutils.utcnow()))
        self.make_pool('gold', *self.hosts)
        self.projects = [Project(number, self.chance.choice(_SHARES))
                         for number in range(1, PROJECTS + 1)]
        for project in self.projects:
            project.client = self.client_of('owner', project.id)
            project.pcloud = self.make_pcloud(project.client)
            self.admin.call_json('PUT', f'/os-pcloud-quotas/{project.id}', {
                'quota': {'units': {'limit': -1}}})
            self.admin.call_json(
                'PUT', f'/os-pcloud-policies/project/{project.id}',
                {'policy': {'share': project.share}})

    def ask(self, project):
        """Have a project ask for a host, or wait."""
        project.named += 1
        until = timeutils.utcnow() + datetime.timedelta(days=7)
        response = project.client.call(
            'POST', f'/os-pclouds/{project.pcloud}/hosts', {'host': {
                'name': f'h{project.named}', 'host_flavor': 'gold',
                'wait_until': until.isoformat()}})
        if response.status_code == 202:
            entry = response.json()['waiting']
            project.entry = entry['since'], entry['id']
        else:
            self.assertEqual(201, response.status_code, response.text)
            project.hosts.add(f'h{project.named}')

    def held(self):
        """Return the names of all hosts, by the id of the project."""
        found = {}
        for project in self.projects:
            hosts = project.client.get_json(
                f'/os-pclouds/{project.pcloud}/hosts')['hosts']
            found[project.id] = {host['name'] for host in hosts}
        return found

    def test_order(self):
        for number in range(HOSTS + PROJECTS):
            project = self.projects[number % PROJECTS]
            if project.entry is None:
                self.ask(project)
        for project in self.projects:
            if project.entry is None:
                self.ask(project)
        self.assertEqual(HOSTS, sum(len(each.hosts)
                                    for each in self.projects))
        won = dict.fromkeys(_SHARES, 0)
        for _ in range(FREED):
            # Some begin to wait in the same second.
            self.clock.advance_time_seconds(self.chance.choice((0, 1, 60)))
            loser = self.chance.choice(
                [each for each in self.projects if each.hosts])
            name = self.chance.choice(sorted(loser.hosts))
            loser.client.call_json(
                'DELETE', f'/os-pclouds/{loser.pcloud}/hosts/{name}')
            loser.hosts.remove(name)
            winner = min(self.projects, key=lambda each: each.place)
            matching.step(nova_context.get_admin_context())
            winner.hosts.add(f'h{winner.named}')
            won[winner.share] += 1
            self.assertEqual({each.id: each.hosts for each in self.projects},
                             self.held())
            winner.entry = None
            self.ask(winner)
            self.assertIsNotNone(winner.entry)
        # Who has the larger share has more hosts, and so is served more.
        self.assertGreater(min(won.values()), 0)
        self.assertEqual([], [each for each in all_checks.find(
            self.context, settle=0) if each.aggregate != 'Keystone'])
