# SPDX-License-Identifier: Apache-2.0

"""What the checker of the soak test sees, and what it lets pass."""

import testtools

from pcloud.tests.soak import calls
from pcloud.tests.soak import judge
from pcloud.tests.soak import registers
from pcloud.tests.soak import rows

P, HOST = 'p', ('p', 'host', 'web')
WHOLE = {(P, 'pcloud', ''): 'mine', (P, 'tenant', 'o'): True}
WITH_HOST = {**WHOLE, HOST: 'disabled'}
LEAVING = {**WHOLE, HOST: registers.LEAVING}
HALF = {**WHOLE, HOST: f'{registers.HALF}no state'}
ADD = calls.add_host(P, 'Web', 'flavor', host_flavor='f')
REMOVE = calls.remove_host(P, 'web')
RELEASE = calls.drain(P, 'web', {'release': True}, 'enabled')
MAKE = calls.make_pcloud('o', 'mine')
DELETE = calls.delete_pcloud(P, False)
RATIOS = calls.change_pcloud(P, {
    'cpu_allocation_ratio': 2.0, 'ram_allocation_ratio': 1.5})

LOST, CHANGED = 'acknowledged change lost', 'refused, but changed something'


def _kinds(before, after, *answers):
    return [found.kind for found in judge.judge(before, after, [
        judge.Outcome(call, code, '', 0, 1) for call, code in answers])]


class JudgeTest(testtools.TestCase):

    def test_one_call(self):
        for before, after, call, code, kinds in [
                (WHOLE, WITH_HOST, ADD, 201, []),
                (WHOLE, WHOLE, ADD, 201, [LOST]),
                (WHOLE, WITH_HOST, ADD, 503, [CHANGED]),
                (WHOLE, WITH_HOST, ADD, 409, [CHANGED]),
                (WHOLE, WHOLE, ADD, 503, []),
                (WHOLE, WHOLE, ADD, None, []),
                (WHOLE, WITH_HOST, ADD, None, []),
                (WHOLE, HALF, ADD, None, ['half-made']),
                (HALF, WHOLE, REMOVE, 204, []),
                (HALF, WITH_HOST, ADD, 409, []),
                (WITH_HOST, WITH_HOST, REMOVE, 204, [LOST]),
                (WITH_HOST, WHOLE, REMOVE, 503, [CHANGED]),
                (WITH_HOST, WHOLE, ADD, 409, ['changed by nobody']),
                (WITH_HOST, LEAVING, RELEASE, 200, []),
                (WITH_HOST, WHOLE, RELEASE, 200, []),
                (WITH_HOST, WITH_HOST, RELEASE, 200, [LOST]),
                (LEAVING, WHOLE, ADD, 409, []),
                ({}, WHOLE, MAKE, 201, []),
                ({}, {}, MAKE, 201, [LOST, LOST]),
                ({}, WHOLE, MAKE, 503, [CHANGED]),
                ({}, WHOLE, MAKE, None, []),
                ({}, WHOLE, ADD, None, ['changed by nobody']),
                (WHOLE, {}, DELETE, 204, []),
                (WHOLE, {}, DELETE, 503, [CHANGED]),
                (WHOLE, WHOLE, DELETE, 204, [LOST, LOST])]:
            self.assertEqual(kinds, _kinds(before, after, (call, code)),
                             (before, after, call, code))

    def test_whole_or_not_at_all(self):
        both = {**WHOLE, **RATIOS.effects}
        half = {**WHOLE, (P, 'cpu_allocation_ratio', ''): 2.0}
        self.assertEqual([], _kinds(WHOLE, both, (RATIOS, None)))
        self.assertEqual([], _kinds(WHOLE, WHOLE, (RATIOS, None)))
        self.assertEqual(['half of a change'],
                         _kinds(WHOLE, half, (RATIOS, None)))
        # Where the other one was so before, nothing is missing.
        self.assertEqual([], _kinds(half, both, (RATIOS, None)))

    def test_at_once(self):
        enable = calls.set_state(P, 'web', 'enabled')
        self.assertEqual([], _kinds(WITH_HOST, WHOLE, (REMOVE, 204),
                                    (enable, 404)))
        self.assertEqual(['given twice'], _kinds(
            WHOLE, WITH_HOST, (ADD, 201), (ADD, 201)))
        self.assertEqual([LOST], _kinds(
            WITH_HOST, WITH_HOST, (REMOVE, 204), (enable, 404)))

    def test_refusals(self):
        for call, code, text, kind in [
                (ADD, 201, '', None), (ADD, None, '', None),
                (ADD, 409, 'no free host', None),
                (ADD, 409, "has a host named 'web'",
                 'refused without a reason'),
                (REMOVE, 404, '', 'refused without a reason'),
                (calls.remove_host(P, 'web', registers.LEAVING), 404, '',
                 None),
                (REMOVE, 503, '', None)]:
            self.assertEqual(kind, judge.refusal(
                judge.Outcome(call, code, text, 0, 1), faults=True))
        self.assertEqual('refused without a reason', judge.refusal(
            judge.Outcome(REMOVE, 503, '', 0, 1), faults=False))


class HostsTest(testtools.TestCase):

    def _hosts(self, hosts, metadata):
        return registers.hosts(rows.Aggregate(
            'u', 'Pcloud:p', frozenset(hosts), metadata))

    def test_whole(self):
        self.assertEqual({'web': 'enabled'}, self._hosts({'h'}, {
            'pcloud:host:Web': 'h.hv.example.org',
            'pcloud:host_state:h.hv.example.org': 'enabled'}))

    def test_half(self):
        name = {'pcloud:host:Web': 'h.hv.example.org'}
        state = {'pcloud:host_state:h.hv.example.org': 'enabled'}
        for hosts, metadata in [
                ({'h'}, {}), ({'h'}, name), ({'h'}, state), (set(), name),
                (set(), state), (set(), name | state),
                ({'h'}, name | state | {
                    'pcloud:host:b': 'h.hv.example.org'})]:
            found = self._hosts(hosts, metadata)
            self.assertTrue(found and all(map(
                registers.is_half, found.values())), found)
