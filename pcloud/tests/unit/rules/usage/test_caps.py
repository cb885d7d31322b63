# SPDX-License-Identifier: Apache-2.0

"""How much of a Pcloud a tenant may use."""

import ddt
import hypothesis
from hypothesis import strategies as st
import testtools

from pcloud import exception
from pcloud.rules.usage import caps

_NUMBERS = st.integers(0, 20)
_AMOUNTS = st.builds(caps.Amounts, *[_NUMBERS] * 3)
_CAPS = st.builds(caps.Caps, *[st.none() | _NUMBERS] * 3)


@ddt.ddt
class CapsTest(testtools.TestCase):

    @ddt.data((None, 9, 9, False), (3, 2, 1, False), (3, 9, 0, False),
              (3, 3, 1, True), (0, 0, 1, True), (0, 0, 0, False))
    @ddt.unpack
    def test_table(self, cap, used, asked, is_too_much):
        """The rows of the table in `caps.Caps.exceeded`."""
        over = [('vcpus', used, asked, cap)] if is_too_much else []
        self.assertEqual(over, list(caps.Caps(vcpus=cap).exceeded(
            caps.Amounts(5, used, 5), caps.Amounts(1, asked, 1))))

    def test_message_has_all_numbers(self):
        error = self.assertRaises(
            exception.CapExceeded, caps.check, 'p',
            caps.Caps(servers=4, memory_mb=512), caps.Amounts(3, 9, 500),
            caps.Amounts(2, 2, 64))
        self.assertIn('servers: requested 2, but already used 3 of 4; ',
                      str(error))
        self.assertIn('memory_mb: requested 64, but already used 500 of 512',
                      str(error))

    def test_one_reason_is_a_code_for_programs(self):
        error = self.assertRaises(
            exception.CapExceeded, caps.check, 'p', caps.Caps(servers=4),
            caps.Amounts(3, 9, 500), caps.Amounts(2, 2, 64))
        self.assertEqual('p', error.details['pcloud'])
        reason = error.details['reason']
        self.assertEqual(
            ('cap_exceeded',
             {'resource': 'servers', 'used': 3, 'asked': 2, 'cap': 4}),
            (reason.code, reason.params))

    def test_read(self):
        self.assertEqual(caps.Caps(), caps.read('p', {'a': 'servers=1'}, 'b'))
        self.assertEqual(caps.Caps(1), caps.read(
            'p', {'a': 'servers=1'}, 'a'))
        for wrong in ('', 'servers=-1', 'vcpus=1 servers=1'):
            error = self.assertRaises(
                exception.CapExceeded, caps.read, 'p', {'a': wrong}, 'a')
            self.assertEqual('p', error.details['pcloud'])
            self.assertEqual('cap_unreadable', error.details['reason'].code)

    @hypothesis.given(_CAPS, _AMOUNTS, _AMOUNTS)
    def test_what_is_let_in_stays_within(self, its, used, asked):
        try:
            caps.check('p', its, used, asked)
        except exception.CapExceeded:
            return
        after = caps.total([used, asked])
        for cap, before, now in zip(
                (its.servers, its.vcpus, its.memory_mb), used.values(),
                after.values(), strict=True):
            self.assertTrue(cap is None or now <= max(cap, before))

    @hypothesis.given(_AMOUNTS, _AMOUNTS, _NUMBERS)
    def test_amounts(self, one, other, number):
        self.assertEqual(caps.total([one] * number), one.times(number))
        more = one.beyond(other)
        self.assertEqual(
            tuple(map(max, one.values(), other.values())),
            caps.total([other, more]).values())
