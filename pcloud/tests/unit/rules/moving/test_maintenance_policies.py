# SPDX-License-Identifier: Apache-2.0


from oslotest import base

from pcloud import exception
from pcloud.rules.moving import maintenance_policies

SOON, LATER = 100, 200
TEN = '19700101T000010Z'


class ValueTest(base.BaseTestCase):

    def test_form(self):
        for value, reaction in (
                (f'begin={TEN}', maintenance_policies.Reaction(10)),
                ('replacement=node-1', maintenance_policies.Reaction(
                    replacement='node-1')),
                (f'begin={TEN} replacement=a b=1',
                 maintenance_policies.Reaction(10, replacement='a b=1')),
                (f'begin={TEN} failed=1',
                 maintenance_policies.Reaction(10, failed=True))):
            self.assertEqual(value, reaction.text())
            self.assertEqual(
                reaction, maintenance_policies.Reaction.read(value))

    def test_what_is_not_right(self):
        for value in (None, '', 'x', 'begin=', 'begin=g', f'BEGIN={TEN}',
                      'begin=21060207T062816Z', f'begin={TEN} replacement=',
                      f'begin={TEN} failed=0', f'begin={TEN} ',
                      f'begin={TEN} replacement=b\n', 'n=b'):
            self.assertIsNone(
                maintenance_policies.Reaction.known(value), value)
            self.assertRaises(
                exception.InvalidRecord, maintenance_policies.Reaction.read,
                value or '')

    def test_policy(self):
        for text, policy in ((None, 'stay'), ('', 'stay'), ('stay', 'stay'),
                             ('migrate', 'migrate'), ('replace', 'replace'),
                             ('Migrate', 'stay'), ('migrate ', 'stay')):
            self.assertEqual(policy, maintenance_policies.policy(text))


class LeavingTest(base.BaseTestCase):

    def test_table(self):
        for kept, members, leaving in (
                ({}, 'ab', ''), ({'a': 'host=b'}, 'ab', ''),
                ({'a': 'host=b'}, 'a', 'a'),
                ({'a': 'over=1 host=b'}, 'ab', 'a'),
                ({'a': 'stays=1 host=b'}, 'ab', ''),
                ({'a': 'stays=1 host=b'}, 'a', ''),
                ({'a': 'over=1 stays=1 host=b'}, 'ab', 'a'),
                ({'a': 'over=1 host=b'}, 'a', 'a'),
                ({'a': 'host=b'}, 'b', ''), ({'a': 'b'}, 'ab', 'a'),
                ({'a': ''}, 'ab', 'a')):
            self.assertEqual(frozenset(leaving), maintenance_policies.leaving(
                maintenance_policies.stand_ins(kept),
                frozenset(members)), kept)

    def test_who_does_not_count(self):
        for value, members, counts in (
                ('host=b', 'ab', False), ('stays=1 host=b', 'ab', False),
                ('host=b', 'a', True), ('stays=1 host=b', 'a', True),
                ('over=1 host=b', 'ab', True), ('b', 'ab', True),
                ('host=b', 'b', True)):
            self.assertEqual(
                [] if counts else ['a'],
                list(maintenance_policies.standing_in(
                    maintenance_policies.stand_ins({'a': value}),
                    frozenset(members))), (value, members))
        for begin, stays in ((maintenance_policies.STANDS_IN, False),
                             (maintenance_policies.STANDS_IN_AND_STAYS,
                              True)):
            self.assertEqual(f'{begin}b', maintenance_policies.StandIn(
                stays=stays, host='b').text())

    def test_of_whom(self):
        self.assertEqual({
            'a': maintenance_policies.StandIn(host='b'),
            'c': maintenance_policies.StandIn(True, host='b'),
            'd': None}, maintenance_policies.stand_ins({
                'a': 'host=b', 'c': 'over=1 host=b', 'd': 'b'}))


class DueTest(base.BaseTestCase):

    def test_table(self):
        made, other = (maintenance_policies.Reaction(begin)
                       for begin in (100, 99))
        for policy, there, reaction, now, due in (
                ('migrate', SOON, None, 90, 'begin'),
                ('replace', SOON, None, 90, 'begin'),
                ('migrate', SOON, None, 89, 'nothing'),
                ('migrate', SOON, other, 90, 'begin'),
                ('migrate', SOON, made, 90, 'nothing'),
                ('migrate', SOON, made, 1000, 'nothing'),
                ('migrate', LATER, made, 90, 'end'),
                ('migrate', None, made, 90, 'end'),
                ('migrate', None, None, 90, 'nothing'),
                ('stay', SOON, made, 90, 'end'),
                ('stay', SOON, None, 1000, 'nothing')):
            self.assertEqual(
                due,
                maintenance_policies.due(policy, there, reaction, 10, now),
                (policy, there, reaction, now))

    def test_deadline(self):
        for now, expected in ((50, 100), (99.5, 100), (100, 110),
                              (100.7, 110), (500, 510)):
            self.assertEqual(
                expected, maintenance_policies.deadline(SOON, 10, now))
