# SPDX-License-Identifier: Apache-2.0


from oslotest import base

from pcloud import exception
from pcloud.rules import reactions as rules

SOON, LATER = 100, 200


class ValueTest(base.BaseTestCase):

    def test_form(self):
        for value, reaction in (
                ('f=a', rules.Reaction(10)),
                ('f=0 n=node-1', rules.Reaction(0, 'node-1')),
                ('f=a n=a b=1', rules.Reaction(10, 'a b=1')),
                ('f=a p=1', rules.Reaction(10, failed=True))):
            self.assertEqual(value, str(reaction))
            self.assertEqual(reaction, rules.parse(value))
            rules.check('node-2', value)

    def test_what_is_not_right(self):
        for value in (None, '', 'x', 'f=', 'f=g', 'f=A', 'f=123456789',
                      'f=a n=', 'f=a p=0', 'f=a ', 'f=a n=b\n', 'n=b'):
            self.assertIsNone(rules.parse(value), value)
            self.assertRaisesRegex(
                exception.InvalidValue, 'Maintenance: ', rules.check, 'node-2',
                value or '')

    def test_policy(self):
        for text, policy in ((None, 'stay'), ('', 'stay'), ('stay', 'stay'),
                             ('migrate', 'migrate'), ('replace', 'replace'),
                             ('Migrate', 'stay'), ('migrate ', 'stay')):
            self.assertEqual(policy, rules.policy(text))


class LeavingTest(base.BaseTestCase):

    def test_table(self):
        for kept, members, leaving in (
                ({}, 'ab', ''), ({'a': 'b'}, 'ab', ''),
                ({'a': 'b'}, 'a', 'a'), ({'a': 'over b'}, 'ab', 'a'),
                ({'a': 'over b'}, 'a', 'a'), ({'a': 'b'}, 'b', '')):
            self.assertEqual(frozenset(leaving), rules.leaving(
                kept, frozenset(members)), kept)

    def test_of_whom(self):
        self.assertEqual('over b', rules.over('b'))
        for kept in 'b', rules.over('b'):
            self.assertEqual('b', rules.of_whom(kept))


class DueTest(base.BaseTestCase):

    def test_table(self):
        made, other = rules.Reaction(100), rules.Reaction(99)
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
                due, rules.due(policy, there, reaction, 10, now),
                (policy, there, reaction, now))

    def test_deadline(self):
        for now, expected in ((50, 100), (99.5, 100), (100, 110),
                              (100.7, 110), (500, 510)):
            self.assertEqual(expected, rules.deadline(SOON, 10, now))
