# SPDX-License-Identifier: Apache-2.0

"""A worker recovers a host, and each change that the worker makes is lost.

A commit, a call of Placement, a message or a notification is lost before or
after it took effect. Whatever is lost, the passes afterwards end as if nothing
had been: the server runs once, and nothing is left behind.
"""

import datetime
import logging
import re

from oslo_utils import timeutils

from pcloud.tests.functional.long import test_recoveries
from pcloud.tests.support import drops

# A turn lasts 20 seconds.
_TURN = 21
# The message by which Nova starts a server elsewhere.
_START = 'cast rebuild_instance'


class ServersTest(test_recoveries.RecoveryTestCase):
    """The pass that begins a recovery, and starts a server elsewhere."""

    own_cloud = True

    def setUp(self):
        super().setUp()
        api, cell, _ = self.engines()
        self.outgoing = self.useFixture(drops.Outgoing(
            {'API database': api, 'cell database': cell},
            self.placement.fixture._client))
        self.flags(recovery_max_hosts=1000, group='pcloud')
        self.resets = []

    def test_each_call(self):
        # The first pass fills what Nova remembers for ever.
        for _ in range(2):
            undisturbed, server = self.fail_with_server()
            self.end(server, undisturbed)
        points = [(number, point) for number, point
                  in enumerate(undisturbed.points, 1) if is_change(point)]
        self.assertIn(_START, [point.text for _, point in points])
        # Many faults are to come, all wanted.
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
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
