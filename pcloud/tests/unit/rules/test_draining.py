# SPDX-License-Identifier: Apache-2.0

"""What is kept of a drain."""

import ddt
from oslotest import base

from pcloud import exception
from pcloud.rules import draining

NOON = 1893499200  # 2030-01-01T12:00:00Z


@ddt.ddt
class DrainTest(base.BaseTestCase):

    @ddt.data(
        (draining.Drain(1), 't=1 v=none'),
        (draining.Drain(255, draining.ANY, True, 256, True),
         't=ff v=any u=100 r=1 o=1'),
        (draining.Drain(0xffffffff, draining.LIVE, False, 2), (
            't=ffffffff v=live u=2')),
        (draining.Drain(1, draining.LIVE, chosen='enabled'),
         't=1 v=live m=enabled'),
        (draining.Drain(1, draining.LIVE, True, 2, True, 'disabled'),
         't=1 v=live u=2 r=1 o=1 m=disabled'))
    @ddt.unpack
    def test_value(self, drain, text):
        self.assertEqual(text, str(drain))
        self.assertEqual(drain, draining.parse(text))
        draining.check('n', text)

    @ddt.data(None, '', 'x', 't=1', 'v=none', 't=1 v=walk', 't=g v=none',
              't=-1 v=none', 't=1 v=none ', 't=1  v=none', 't=1 v=none r=0',
              't=1 v=none o=1 r=1', 't=123456789 v=none', 't=1 v=none\n',
              't=1 v=none m=', 't=1 v=none m=x',
              't=1 v=none m=enabled r=1')
    def test_value_that_is_not_right(self, text):
        self.assertIsNone(draining.parse(text))
        self.assertRaisesRegex(
            exception.InvalidValue, 'Drain: ', draining.check, 'n', text or '')

    @ddt.data(('disabled', 't=1 v=none', True), ('disabled', None, False),
              ('disabled', 'x', False), ('enabled', 't=1 v=none', False),
              ('Disabled', 't=1 v=none', False), (None, 't=1 v=none', False))
    @ddt.unpack
    def test_state(self, state, text, drained):
        self.assertEqual(drained, draining.of(state, text) is not None)

    @ddt.data(('2030-01-01T12:00:01Z', 1), ('2030-01-01T12:00:01', 1),
              ('2030-01-01T13:00:02+01:00', 2))
    @ddt.unpack
    def test_deadline(self, text, later):
        self.assertEqual(NOON + later, draining.deadline(text, NOON))

    def test_date_means_the_end_of_the_day(self):
        self.assertLess(NOON + 11 * 3600,
                        draining.deadline('2030-01-01', NOON))

    @ddt.data('2030-01-01T12:00:00Z', '2029-12-31', 'soon', '', '9999-01-01',
              '2030-13-01')
    def test_deadline_that_is_not_right(self, text):
        self.assertRaisesRegex(
            exception.InvalidValue, 'Drain: ', draining.deadline, text, NOON)

    @ddt.data((None, False), (NOON - 1, True), (NOON, True),
              (NOON + 1, False))
    @ddt.unpack
    def test_overdue(self, deadline, overdue):
        self.assertEqual(overdue, draining.Drain(
            1, deadline=deadline).is_overdue(NOON))

    @ddt.data(
        (None, False), (draining.Drain(1, release=True), False),
        (draining.Drain(1, draining.LIVE), False),
        (draining.Drain(1, draining.LIVE, True, 2), False),
        (draining.Drain(1, draining.LIVE, True), True),
        (draining.Drain(1, draining.ANY, True), True))
    @ddt.unpack
    def test_lets_go(self, drain, lets):
        self.assertEqual(lets, draining.lets_go(drain))
