# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Who may stay when several requests want the last units."""

import itertools

from oslotest import base

from pcloud.aggregates import quota


class ContestTest(base.BaseTestCase):

    def test_refuses_what_is_too_much_for_good(self):
        contest = quota.Contest(5, {'a': 2}, {'b': 2, 'c': 2})
        self.assertFalse(contest.refuses(3))
        self.assertTrue(contest.refuses(4))
        self.assertTrue(contest.is_over())

    def test_unlimited(self):
        contest = quota.Contest(-1, {'a': 2}, {'b': 10 ** 6})
        self.assertFalse(contest.refuses(10 ** 6))
        self.assertFalse(contest.is_over())
        self.assertTrue(contest.prefers('b'))

    def test_those_preferred_fit_and_are_some(self):
        hosts = ('a', 'b', 'c', 'd')
        for units in itertools.product((1, 2, 3), repeat=4):
            contest = quota.Contest(5, {'k': 2}, dict(zip(hosts, units)))
            chosen = [host for host in hosts if contest.prefers(host)]
            self.assertLessEqual(
                sum(contest.moving[host] for host in chosen), 3)
            self.assertEqual(list(hosts[:len(chosen)]), chosen)
            self.assertTrue(chosen)
