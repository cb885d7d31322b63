# SPDX-License-Identifier: Apache-2.0

"""A worker recovers a host, and each change that the worker makes is lost.

A commit, a call of Placement, a message or a notification is lost before or
after it took effect. Whatever is lost, the passes afterwards end as if nothing
had been: the server runs once, and nothing is left behind. Likewise where a
free host joins, and where the host comes back.
"""

import datetime
import logging
import re

from oslo_utils import timeutils
from testtools import content

from pcloud import names
from pcloud.tests.functional.long import test_recoveries
from pcloud.tests.support import drops
from pcloud.tests.support import written

# A turn lasts 20 seconds.
_TURN = 21
# The message by which Nova starts a server elsewhere.
_START = 'cast rebuild_instance'


class LosingTestCase(test_recoveries.RecoveryTestCase):

    own_cloud = True

    def setUp(self):
        super().setUp()
        api, cell, _ = self.engines()
        self.outgoing = self.useFixture(drops.Outgoing(
            {'API database': api, 'cell database': cell},
            self.placement.fixture._client))
        self.flags(recovery_max_hosts=1000, group='pcloud')

    def expect_faults(self):
        """Many faults are to come, all wanted."""
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)


class ServersTest(LosingTestCase):
    """The pass that begins a recovery, and starts a server elsewhere."""

    def setUp(self):
        super().setUp()
        self.resets = []

    def test_each_call(self):
        # The first pass fills what Nova remembers for ever.
        for _ in range(2):
            undisturbed, server = self.fail_with_server()
            self.end(server, undisturbed)
        points = [(number, point) for number, point
                  in enumerate(undisturbed.points, 1) if is_change(point)]
        self.assertIn(_START, [point.text for _, point in points])
        self.expect_faults()
        for number, point in points:
            for when in point.whens:
                drop = drops.Drop(number, when)
                met, server = self.fail_with_server(drop)
                self.assertEqual(point, met.points[number - 1], drop)
                self.end(server, met, drop)
        # The server is marked, and nothing says who has asked.
        self.assertEqual(
            [('UPDATE instances', drops.When.AFTER),
             ('INSERT INTO instance_actions', drops.When.BEFORE)], self.resets)

    def fail_with_server(self, *lost):
        """Have a host fail that has a server, and a worker look.

        :returns: what was met in the pass, and the server
        """
        server = self.start_on('a')
        # What a worker does once an hour is done before, each time.
        self.at(timeutils.utcnow().replace(minute=10, second=0) +
                datetime.timedelta(hours=1))
        self.work()
        self.fence()
        self.later(seconds=301)
        with self.outgoing.dropping(*lost) as met:
            self.work()
        return met, server

    def end(self, server, met, *lost):
        """See a server run elsewhere; have all be as before."""
        first, points = lost, met.points
        # A server that Nova has marked, and asked nobody to start, waits.
        for seconds in (_TURN, _TURN, 3601, 61, None, _TURN):
            if is_asked(met, *lost):
                break
            if seconds is None:
                self.assertEqual({server['id']: 'task'}, self.stays())
                self.resets += [(written_by(points, each.number), each.when)
                                for each in first]
                self.act(server, {'os-resetState': {'state': 'active'}})
                continue
            self.later(seconds=seconds)
            lost = ()
            with self.outgoing.dropping() as met:
                self.work()
        self.arrives(server, 'b')
        self.wait_until(lambda: self.assertEqual(
            ['done'], [each for each in self.migrations(server)
                       if each != 'error'], first))
        self.step_until_done()
        self.admin.delete_server(server['id'])
        self._wait_until_deleted(server)
        self.come_back()
        self.wait_until(self.is_back)
        self.assertEqual([], self.kinds(), first)

    def is_back(self):
        self.later(seconds=_TURN)
        self.work()
        self.assertIsNone(self.recovery_of())


class HostsTestCase(LosingTestCase):
    """A pass that changes which hosts the Pcloud has, or their states."""

    def lose_each(self, check):
        """Lose each change of a pass, each time from the same start.

        :param check: looks at the outcome after further passes
        :returns: what was lost
        """
        databases = written.Databases(*self.engines())
        kept, now = databases.keep(), timeutils.utcnow()

        def lose(*lost):
            # At another moment a worker has other things to do as well.
            self.at(now)
            databases.put_back(kept)
            return self.lose(check, *lost)

        # The first pass fills what Nova remembers for ever.
        for _ in range(2):
            undisturbed = lose()
        points = [(number, point) for number, point
                  in enumerate(undisturbed.points, 1) if is_change(point)]
        self.expect_faults()
        for number, point in points:
            for when in point.whens:
                self.addDetail('lost', content.text_content(
                    f'{point} {when.value} it was done'))
                met = lose(drops.Drop(number, when))
                self.assertEqual(point, met.points[number - 1])
        return [str(point) for _, point in points]

    def lose(self, check, *lost):
        """Have a worker look, and others afterwards; look at the outcome."""
        self.notifier.reset()
        with self.outgoing.dropping(*lost) as met:
            self.work()
        for _ in range(3):
            self.later(seconds=_TURN)
            self.work()
        check()
        self.assertEqual((2, 2), (
            self.in_use(), self.pcloud_shown()['units']))
        self.assertEqual([], self.kinds())
        told = self.told()
        self.assertEqual(len(set(told)), len(told))
        return met


class JoinTest(HostsTestCase):
    """The pass that begins a recovery, for which a free host joins."""

    wished = 'replace'

    def test_each_call(self):
        self.fence()
        self.later(seconds=301)
        lost = ' '.join(self.lose_each(self.has_joined))
        for part in ('PUT /resource_providers', 'pcloud.host.add',
                     'pcloud.host.recovery'):
            self.assertIn(part, lost)

    def has_joined(self):
        name, = self.names().keys() - {'a', 'b'}
        self.assertEqual({'a': 'disabled', 'b': 'enabled', name: 'enabled'},
                         self.names())
        recovered = self.recovery_of()
        self.assertEqual(('done', name), (
            recovered['state'], recovered['replacement']))


class ReturnTest(HostsTestCase):
    """The pass that finds that the host has come back."""

    parts = ('pcloud.host.recovery',)

    def test_each_call(self):
        self.fail()
        self.step_until_done()
        self.come_back()
        lost = ' '.join(self.lose_each(self.is_back))
        for part in self.parts:
            self.assertIn(part, lost)

    def is_back(self):
        self.assertEqual({'a': 'enabled', 'b': 'enabled'}, self.names())
        self.assertIsNone(self.recovery_of())


class ReplaceReturnTest(ReturnTest):
    """The host returns to its pool, with its service disabled."""

    wished = 'replace'
    parts = ('PUT /resource_providers', 'pcloud.host.remove',
             'pcloud.host.recovery', 'call set_host_enabled')

    def is_back(self):
        name, = self.names().keys() - {'b'}
        self.assertEqual({'b': 'enabled', name: 'enabled'}, self.names())
        self.assertEqual({}, self.kept_of(names.REPLACES_PREFIX))
        self.assertEqual({}, self.kept_of(names.RECOVERY_PREFIX))
        there, = (each for each in self.admin.get_json(
            '/os-host-flavors/gpu')['host_flavor']['hosts']
            if each['host'] == self.real['a'])
        self.assertEqual((None, 'disabled'),
                         (there['pcloud'], there['status']))


def is_change(point):
    """Whether a message may have changed something."""
    return (point.text == drops.COMMIT or
            point.part in (drops.RPC, drops.NOTIFICATIONS) or
            point.part == drops.PLACEMENT and drops.When.AFTER in point.whens)


def written_by(points, number):
    """Return how the statement begins that a commit is for."""
    found = (point.text for point in reversed(points[:number - 1])
             if point.text.startswith(('INSERT', 'UPDATE')))
    return re.match(r'(UPDATE|INSERT INTO) \w+', next(found))[0]


def is_asked(met, *lost):
    """Whether Nova was asked to start a server, and knows."""
    asked = [number for number, point in enumerate(met.points, 1)
             if point.text == _START]
    return bool(asked) and not any(
        drop.number == asked[0] and drop.when is drops.When.BEFORE
        for drop in lost)
