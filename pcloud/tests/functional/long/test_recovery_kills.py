# SPDX-License-Identifier: Apache-2.0

"""Workers that are killed while they recover a host.

A worker is killed at each statement of a pass, in each database, and another
worker finishes. Wherever the first worker has died, no server is lost or
outside the Pcloud, no host is in two Pclouds, the quota is right, nothing is
left behind, and nothing is done twice.
"""

import collections
import datetime
import re

import fixtures
from nova.conductor import rpcapi
from nova.db.main import models
from nova import objects
from oslo_utils import timeutils
import sqlalchemy as sa

from pcloud import names
from pcloud.tests.functional.long import test_recoveries
from pcloud.tests.support import kills
from pcloud.tests.support import written

# Within so many seconds the turn of a worker that has died lapses.
_TURN = 23
# What Nova writes of a server before anybody is asked to start the server.
_SERVER, _BESIDE = models.Instance.__table__, [
    models.Migration.__table__, models.InstanceAction.__table__]


class KillsTestCase(test_recoveries.RecoveryTestCase):
    """A Pcloud with the hosts a and b, a Pcloud of bob, and free hosts."""

    own_cloud = True
    hosts = {f'node-{number}': 'az1' for number in range(1, 5)}

    def furnish(self):
        super().furnish()
        self.other = self.make_pcloud(self.bob, 'other')

    def setUp(self):
        super().setUp()
        self.flags(recovery_max_hosts=1000, group='pcloud')
        self.databases = written.Databases(*self.engines())
        self.databases.know_pclouds()
        self.casts = []
        rebuild = rpcapi.ComputeTaskAPI.rebuild_instance

        def ask(api, context, **more):
            self.casts.append(more['instance'].uuid)
            rebuild(api, context, **more)

        self.useFixture(fixtures.MonkeyPatch(
            'nova.conductor.rpcapi.ComputeTaskAPI.rebuild_instance', ask))

    def kill_at_each(self, begin, end):
        """Have a worker killed at each statement of a pass.

        All is put back while a kill leaves what the kill before has left.

        :param begin: has all be as it was; returns the server
        :param end: has another worker finish, and looks at the outcome
        :returns: database -> of how many kills the outcome was looked at
        """
        ends = collections.Counter()
        for part, engine in zip(('API', 'cell', 'Placement'), self.engines()):
            number, is_again, is_killed = 0, False, True
            while is_killed:
                server = begin()
                start, kept = self.seen(), self.kept()
                left = start
                if is_again:
                    kills.is_killed(engine, number, self.work)
                    left = self.seen()
                while is_killed and not self.casts and (
                        self.seen() in (start, left)):
                    self.put_all_back(kept)
                    number += 1
                    is_killed = kills.is_killed(engine, number, self.work)
                # Whom Nova has asked starts the server, come what may.
                is_again = not self.casts
                ends[part] += is_killed
                self.later(seconds=_TURN)
                self.check(server)
                end(server)
        return ends

    def seen(self):
        """Return what a pass may change, but for what workers note.

        Free hosts are all the same.
        """
        free = set(self.hosts) - set(self.real.values())
        chance = re.compile('|'.join(['-r[0-9a-f]{4}', *sorted(free)]))
        with self.engines()[1].connect() as connection:
            return [
                *sorted(chance.sub('free', f'{name}: {value}') for name, value
                        in self.databases.read().flat().items()),
                self.events(),
                connection.execute(sa.select(
                    _SERVER.c.host, _SERVER.c.task_state)).all(),
                *(connection.execute(sa.select(table.c.id)).all()
                  for table in _BESIDE)]

    def kept(self):
        """Return what `put_all_back` restores."""
        with self.engines()[1].connect() as connection:
            return timeutils.utcnow(), self.databases.keep(), [
                list(connection.scalars(sa.select(table.c.id)))
                for table in _BESIDE]

    def put_all_back(self, kept):
        """Restore what is there, before Nova has asked anybody."""
        now, rows, beside = kept
        # At another moment a worker has other things to do as well.
        self.at(now)
        self.databases.put_back(rows)
        with self.engines()[1].begin() as connection:
            connection.execute(sa.update(_SERVER).values(task_state=None))
            for table, ids in zip(_BESIDE, beside):
                connection.execute(sa.delete(table).where(
                    table.c.id.not_in(ids)))
        self.forget_told()

    def events(self):
        """Return what listeners were told of hosts, and of recoveries."""
        return [(each['event_type'].removeprefix('pcloud.host.'),
                 each['payload']['nova_object.data'].get('state'))
                for each in self.notifier.versioned_notifications
                if each['event_type'].startswith('pcloud.host.')]

    def check(self, server):
        """Look at what holds at any moment."""
        held = [each.hosts for each
                in objects.AggregateList.get_all(self.context)
                if each.name.startswith('Pcloud:') and
                names.OWNER in each.metadata]
        self.assertEqual(2, len(held))
        self.assertFalse(set(held[0]) & set(held[1]))
        self.assertIn(self.host_of(server),
                      self.aggregate(f'Pcloud:{self.pcloud}').hosts)
        self.assertEqual(2, self.in_use())
        self.assertNotEqual(
            'ERROR', self.admin.get_server(server['id'])['status'])

    def prepare(self):
        """Have a server on a host that has failed, before any worker looks."""
        server = self.start_on('a')
        if self.wished == 'replace':
            self.put('b', 'disabled')
        # What a worker does once an hour is done before.
        self.at(timeutils.utcnow().replace(minute=10, second=0) +
                datetime.timedelta(hours=1))
        self.work()
        self.fence()
        self.later(seconds=301)
        self.forget_told()
        return server

    def forget_told(self):
        """Forget what listeners and Nova were told."""
        self.casts.clear()
        self.notifier.reset()

    def moved(self, server):
        """See a server run elsewhere; return the name of the host."""
        name, = self.names().keys() - {'a', 'b'} or {'b'}
        self.wait_for(server, status='ACTIVE', **{
            'OS-EXT-SRV-ATTR:host': self.real_of(name)})
        self.wait_until(lambda: self.assertEqual(
            ['done'], [each for each in self.migrations(server)
                       if each != 'error']))
        return name

    def told_once(self, *states):
        """See that listeners were told no state twice, and some states.

        Of a host that joins or leaves they are told until that is done.
        """
        told = [state for kind, state in self.events() if kind == 'recovery']
        self.assertEqual(len(told), len(set(told)), told)
        self.assertLessEqual(set(states), set(told))


class BeginTest(KillsTestCase):
    """The pass that begins a recovery, and has a server started elsewhere."""

    def test_each_statement(self):
        self.resets, kept = 0, self.databases.keep()

        def end(server):
            self.start_again(server)
            self.moved(server)
            self.step_until_done()
            self.check(server)
            self.assertEqual([server['id']], self.casts)
            self.assertEqual('disabled', self.names()['a'])
            self.assertEqual([], self.kinds())
            self.told_once('done')
            self.admin.delete_server(server['id'])
            self._wait_until_deleted(server)
            self.come_back()
            self.databases.put_back(kept)

        ends = self.kill_at_each(self.prepare, end)
        self.assertGreater(ends['API'], 5)
        self.assertGreater(ends['cell'], 2)
        # Nova had marked the server, and nothing said who had asked.
        self.assertGreater(self.resets, 0)

    def start_again(self, server):
        """Have another worker look until Nova was asked to start a server."""
        for seconds in (0, 0, 3601, 61):
            self.later(seconds=seconds)
            self.work()
            if self.casts:
                return
            if self.stays() == {server['id']: 'task'}:
                self.resets += 1
                self.act(server, {'os-resetState': {'state': 'active'}})
        self.assertEqual([server['id']], self.casts, self.stays())


class ReplaceBeginTest(BeginTest):
    """The same, and a free host joins."""

    wished = 'replace'

    def start_again(self, server):
        """Have bob take a host before another worker looks."""
        has_joined = len(self.names()) == 3
        if has_joined:
            self.add_host(self.bob, self.other, 'x', 'gpu', enable=False)
        super().start_again(server)
        joined, = self.names().keys() - {'a', 'b'}
        self.assertEqual(joined, self.recovery_of()['replacement'])
        self.assertEqual('enabled', self.names()[joined])


class OverTestCase(KillsTestCase):
    """A Pcloud with a server that was started elsewhere."""

    def setUp(self):
        super().setUp()
        self.server = self.prepare()
        self.work()
        self.name = self.moved(self.server)

    def kill_after(self, check):
        """Have workers killed from now on, and others look afterwards.

        :param check: looks at the outcome
        """
        self.forget_told()
        kept = self.kept()
        moves = self.migrations(self.server)

        def begin():
            self.put_all_back(kept)
            return self.server

        def finish(server):
            self.work()
            check()
            self.check(server)
            self.told_once()
            self.assertEqual([], self.casts)
            self.assertEqual(moves, self.migrations(server))
            self.assertEqual([], self.kinds())

        return self.kill_at_each(begin, finish)


class DoneTest(OverTestCase):
    """The pass that finds the servers started elsewhere."""

    def test_each_statement(self):
        def is_done():
            self.assertEqual('done', self.recovery_of()['state'])
            self.assertEqual([], self.recovery_of()['remaining'])

        self.assertGreater(self.kill_after(is_done)['API'], 0)


class ReplaceDoneTest(DoneTest):

    wished = 'replace'


class ReturnTest(OverTestCase):
    """The pass after the host has come back."""

    def test_each_statement(self):
        self.step_until_done()
        self.come_back()
        self.assertGreater(self.kill_after(self.is_back)['API'], 0)

    def is_back(self):
        self.assertIsNone(self.recovery_of())
        self.assertEqual({'a': 'enabled', 'b': 'enabled'}, self.names())


class ReplaceReturnTest(ReturnTest):
    """The host returns to its pool, and whoever has joined stays."""

    wished = 'replace'

    def is_back(self):
        self.assertEqual({'b': 'disabled', self.name: 'enabled'},
                         self.names())
        self.assertEqual({}, self.kept_of(names.REPLACES_PREFIX))
        self.assertEqual({}, self.kept_of(names.RECOVERY_PREFIX))
        there, = (each for each in self.admin.get_json(
            '/os-host-flavors/gpu')['host_flavor']['hosts']
            if each['host'] == self.real['a'])
        self.assertEqual((None, 'disabled'),
                         (there['pcloud'], there['status']))
        self.assertEqual(2, self.pcloud_shown()['units'])
