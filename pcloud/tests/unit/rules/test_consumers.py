# SPDX-License-Identifier: Apache-2.0

import ddt
import testtools

from pcloud.rules import consumers

HERE, THERE, OLDEST = 'node-1', 'node-2', 1000
YOUNG, OLD = 1000, 999


def _server(host=THERE, **more):
    return consumers.Known(servers=[consumers.Server(host, **more)])


def _moved(*over, **more):
    return consumers.Known(migrations=[
        consumers.Migration(each) for each in over], **more)


@ddt.ddt
class OrphanTest(testtools.TestCase):
    """The rows of the table."""

    @ddt.data(
        (consumers.Known(is_requested=True), None),
        (_moved(False), None), (_moved(True, False), None),
        (_server(HERE), None), (_server(is_in_doubt=True), None),
        (_server(is_busy=True, changed=YOUNG), None),
        (_server(None, is_busy=True, changed=YOUNG), None),
        (_server(is_busy=True, changed=OLD), consumers.ELSEWHERE),
        (_server(changed=YOUNG), consumers.ELSEWHERE),
        (_server(None), consumers.ELSEWHERE),
        (_moved(True), consumers.OVER),
        (_server(HERE, is_deleted=True), consumers.DELETED),
        (_server(is_deleted=True, is_busy=True, changed=YOUNG,
                 is_in_doubt=True), consumers.DELETED),
        (consumers.Known(), consumers.UNKNOWN))
    @ddt.unpack
    def test_what_it_is(self, known, wanted):
        self.assertEqual(wanted, consumers.orphan(known, HERE, OLDEST))

    def test_server_in_two_cells(self):
        """One row shows the server at rest, the other on the host."""
        self.assertIsNone(consumers.orphan(consumers.Known(servers=[
            consumers.Server(THERE), consumers.Server(HERE)]), HERE, OLDEST))

    def test_when_it_ended(self):
        for known, wanted in (
                (consumers.Known(), 0), (_server(changed=7), 0),
                (_server(is_deleted=True, changed=7), 7),
                (consumers.Known(migrations=[
                    consumers.Migration(True, 5),
                    consumers.Migration(True, 6)]), 6)):
            self.assertEqual(wanted, consumers.ended(known))
