# SPDX-License-Identifier: Apache-2.0

"""Failures and moves, in words."""

import unittest

import ddt

from pcloud.client import plan_resources
from pcloud.client import resources
from pcloud_dashboard.project.planning import changes
from pcloud_dashboard.project.planning import failures
from pcloud_dashboard.project.planning import moves

SERVER = 'c1d9e4b6-0b7f-4f0e-8c2a-9e6d3f5a1b47'


def rehearsal(survives, of, **more):
    """Return a rehearsal of which only some members matter."""
    return plan_resources.Rehearsal(**{
        'survives': survives, 'of': of, 'exact': True,
        'bounds': {'least': survives, 'most': survives}, **more})


def loss(survives, least, most, servers=3):
    """Return the loss of a host."""
    return plan_resources.LostServers(
        no_room={'least': least, 'most': most}, host='web-1',
        servers=servers, survives=survives)


def rebalance(**more):
    """Return a plan without moves."""
    return plan_resources.Rebalance(**{
        'moves': (), 'steps': (), 'frees': (), 'units_saved': 0,
        'valid_for': '', 'exact': True, **more})


@ddt.ddt
class FailuresTest(unittest.TestCase):

    @ddt.data(
        ('host', 0, 0, 'There is no host that may fail.'),
        ('host', 2, 2, 'Any host may fail: all its instances fit on '
                       'the others.'),
        ('host', 1, 2, '1 of 2 hosts may fail.'),
        ('rack', 0, 0, 'The racks of the hosts are not known.'),
        ('rack', 2, 2, 'Any rack may fail: all its instances fit on '
                       'the others.'),
        ('rack', 1, 2, '1 of 2 racks may fail.'))
    @ddt.unpack
    def test_sentence(self, lose, survives, of, expected):
        self.assertEqual(expected, failures.answer(
            rehearsal(survives, of), lose, {}).text)

    def test_what_is_not_proven(self):
        found = failures.answer(rehearsal(
            1, 2, exact=False, worst={'rack': 3, 'servers': 1}),
            'rack', {})
        self.assertEqual(
            '1 of 2 racks may fail. More could not be proven in time. Worst '
            'is the loss of rack 3: 1 instance does not fit then.', found.text)

    @ddt.data(
        (loss(True, 0, 0), '✓', 'all instances fit'),
        (loss(True, 0, 0, 0), '✓', 'no instances'),
        (loss(False, 1, 1), '✗', '1 instance does not fit'),
        (loss(False, 2, 3), '✗', 'at least 2 instances do not fit'),
        (loss(None, 0, 3), '?', 'not proven; at most 3 do not fit'),
        (loss(None, None, None), '?', 'not known'))
    @ddt.unpack
    def test_losses(self, value, sign, text):
        found, = failures.answer(
            rehearsal(0, 1, losses=(value,)), 'host', {}).losses
        self.assertEqual((sign, text), (found.sign, found.text))

    def test_a_server_that_no_host_takes(self):
        found = failures.answer(rehearsal(0, 1, refused_servers=(
            plan_resources.RefusedServer('web-1', SERVER, 'too large'),)),
            'host', {SERVER: 'db'})
        self.assertEqual(['db on web-1 fits nowhere: too large'],
                         found.notes)


def more(hosts=1, free=1, quota_short_by=0):
    """Return hosts that would free capacity."""
    return plan_resources.MoreHosts(
        'gold', hosts, 2 * hosts, free, quota_short_by)


ALL = changes.Rights(enable=True, add=True)


@ddt.ddt
class ChangesTest(unittest.TestCase):

    HOSTS = (resources.Host('web-1', state='disabled'),
             resources.Host('web-2', state='enabled'),
             resources.Host('web-3', state='disabled', instances=('a',)))

    def of_rehearsal(self, rights, survives=0):
        return [(each.change, each.subject, each.count, each.can_be_done)
                for each in changes.of_rehearsal(
                    rehearsal(survives, 1, more=(more(2, 3),)),
                    self.HOSTS, rights)]

    def test_what_would_help(self):
        self.assertEqual(
            [('enable', 'web-1', 1, True), ('add_hosts', 'gold', 2, True)],
            self.of_rehearsal(ALL))
        self.assertEqual([], self.of_rehearsal(ALL, survives=1))

    @ddt.data((changes.Rights(enable=True, add=False), [True, False]),
              (changes.Rights(enable=False, add=True), [False, False]))
    @ddt.unpack
    def test_rights(self, rights, expected):
        self.assertEqual(
            expected, [each[-1] for each in self.of_rehearsal(rights)])

    @ddt.data((1, 1, 0, True), (2, 1, 0, False), (1, 1, 2, False))
    @ddt.unpack
    def test_hosts_that_cannot_be_had(self, hosts, free, short, expected):
        found, = changes.more_hosts([more(hosts, free, short)], ALL)
        self.assertIs(expected, found.can_be_done)

    @ddt.data((ALL, ['enable', 'add_host']),
              (changes.Rights(enable=True, add=False), ['enable']),
              (changes.Rights(enable=False, add=True), []))
    @ddt.unpack
    def test_what_others_do_has_no_button(self, rights, expected):
        explanation = plan_resources.Explanation('1', 0, changes=tuple(
            plan_resources.HelpfulChange(change, 'web-1', 'do it')
            for change in ('enable', 'wait', 'add_host', 'flavor')))
        self.assertEqual(expected, [
            each.change for each in changes.of_explanation(
                explanation, rights, {}) if each.can_be_done])


class StacksTest(unittest.TestCase):

    PLAN = rebalance(
        moves=({'server': 'a', 'from': 'web-2', 'to': 'web-1'},
               {'server': 'b', 'from': 'web-2', 'to': 'web-1'}),
        steps=([0, 1],), frees=('web-2',), units_saved=2)
    HOSTS = (resources.Host('web-1', instances=('c',)),
             resources.Host('web-2', instances=('a', 'b')),
             resources.Host('web-3', instances=('d',)))

    def test_headline(self):
        self.assertEqual('2 moves give 2 units back',
                         moves.plan(self.PLAN, {}).headline)
        self.assertEqual('', moves.plan(rebalance(), {}).headline)

    def test_before_and_after(self):
        source, target = moves.stacks(self.PLAN, self.HOSTS, {'a': 'db'})

        self.assertEqual('web-2: 2 instances now, 0 after', source.text)
        self.assertEqual([('leaves', 'db'), ('leaves', 'b')], [
            (box.kind, box.title) for box in source.before])
        self.assertEqual([], source.after)
        self.assertEqual('web-1: 1 instances now, 3 after', target.text)
        self.assertEqual(['stays', 'arrives', 'arrives'], [
            box.kind for box in target.after])

    def test_hosts_that_have_left(self):
        self.assertEqual([], moves.stacks(self.PLAN, (), {}))


@ddt.ddt
class MovesTest(unittest.TestCase):

    @ddt.data(
        ({}, 'No host can be made empty.'),
        ({'fits': False}, 'No moves are known that free capacity for all of '
                          'them.'),
        ({'fits': True}, 'All of them fit now; nothing has to move.'),
        ({'exact': False}, 'No moves are known that make a host empty. There '
                           'may be a better plan.'))
    @ddt.unpack
    def test_sentences(self, members, expected):
        self.assertEqual(expected, ' '.join(
            moves.plan(rebalance(**members), {}).texts))

    def test_steps(self):
        found = moves.plan(rebalance(
            moves=tuple({'server': name, 'from': 'a', 'to': 'b'}
                        for name in 'xyz'),
            steps=([0, 2], [1])), {'x': 'first'})
        self.assertEqual(
            [(1, 'first'), (1, 'z'), (2, 'y')],
            [(move.step, str(move.server)) for move in found.moves])

    def test_a_host_that_has_left(self):
        found = moves.plan(rebalance(under_way=(
            {'server': 'x', 'from': 'a', 'to': None, 'step': 1},)), {})
        self.assertEqual('a host that has left', found.left[0].target)

    def test_servers_that_stay(self):
        more = plan_resources.NotExplained('More.', 'in_words', {})
        found = moves.plan(rebalance(pinned=(
            {'server': SERVER, 'host': 'a', 'rule': 'locked',
             'reason': 'it is locked'},), not_explained=(more,)), {})
        self.assertEqual(['c1d9e4b6 stays on a: it is locked', 'More.'],
                         found.pinned)
