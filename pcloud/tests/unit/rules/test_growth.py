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

import ddt
from hypothesis import given
from hypothesis import strategies as st
import testtools

from pcloud import exception
from pcloud.rules import capacity
from pcloud.rules import growth

GROUP = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'


def need(memory, cpus=1):
    return capacity.Need({'MEMORY_MB': memory, 'VCPU': cpus})


def host(memory, cpus=8):
    return capacity.Host({'MEMORY_MB': (memory,), 'VCPU': (cpus,)},
                         frozenset())


@ddt.ddt
class RowsTest(testtools.TestCase):
    """What launches write is read as written."""

    def test_reservations(self):
        for group in (None, GROUP):
            kept = growth.Reservation(1790000000, growth.Demand(
                need(512), 3, group))
            self.assertEqual(kept, growth.parse(str(kept)))
        empty = growth.Reservation(1, growth.Demand(capacity.Need({}), 1))
        self.assertEqual(empty, growth.parse(str(empty)))

    def test_very_many_resource_classes(self):
        """What every server has is kept."""
        amounts = {f'CUSTOM_{"X" * 30}_{number}': 1 for number in range(9)}
        kept = growth.Reservation(1, growth.Demand(capacity.Need(
            {**amounts, **need(512).amounts}), 1))
        self.assertLessEqual(len(str(kept)), 255)
        self.assertEqual(need(512), growth.parse(str(kept)).demand.need)

    @ddt.data('', '1', '1 1 -', 'x 1 - VCPU:1', '1 1 x VCPU:1',
              '1 1 - VCPU', '1 1 - VCPU:x', '1 1 - VCPU:1,', '1 -1 - VCPU:1',
              '1 1 - vcpu:1', '1 1 - VCPU:1:1', f'{"9" * 19} 1 - VCPU:1',
              '1 0 - VCPU:1', '1 1 - VCPU:0', '1 1 - :1', '1 1 - VCPU:1,A:0')
    def test_other_text(self, text):
        self.assertRaises(exception.InvalidReservation, growth.parse, text)


class RoomTest(testtools.TestCase):

    def test_large_servers_come_first(self):
        free, homeless = growth.left(
            {'a': host(4), 'b': host(6)},
            [growth.Demand(need(2), 2), growth.Demand(need(6), 1)])
        self.assertEqual({'a': host(0, 6), 'b': host(0, 7)}, free)
        self.assertEqual(0, homeless)

    def test_without_room(self):
        free, homeless = growth.left(
            {'a': host(4)}, [growth.Demand(need(3), 3)])
        self.assertEqual({'a': host(1, 7)}, free)
        self.assertEqual(2, homeless)

    def test_several_providers(self):
        nodes = capacity.Host({'MEMORY_MB': (2, 5), 'VCPU': (4,)},
                              frozenset())
        free, _ = growth.left({'a': nodes}, [growth.Demand(need(3), 1)])
        self.assertEqual((2, 2), free['a'].free['MEMORY_MB'])

    def test_smallest(self):
        self.assertEqual(need(2, 1), growth.smallest(
            [need(2, 3), need(5, 1)]))
        self.assertEqual(capacity.Need({}), growth.smallest(
            [need(2), capacity.Need({'DISK_GB': 1})]))

    @given(st.lists(st.integers(0, 20), max_size=4),
           st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4)),
                    max_size=4))
    def test_nothing_is_lost_or_taken_twice(self, memory, demands):
        hosts = {str(number): host(each, 99)
                 for number, each in enumerate(memory)}
        asked = [growth.Demand(need(*each), count)
                 for *each, count in [(size, 1, count)
                                      for size, count in demands]]
        free, homeless = growth.left(hosts, asked)
        cpus = sum(99 - each.free['VCPU'][0] for each in free.values())
        self.assertEqual(sum(each.count for each in asked), cpus + homeless)
        self.assertTrue(all(each.free['MEMORY_MB'][0] >= 0
                            for each in free.values()))
        if homeless:
            # Whoever has no place is larger than what any host has left.
            self.assertGreater(
                max(each.need.amounts['MEMORY_MB'] for each in asked),
                max((each.free['MEMORY_MB'][0] for each in free.values()),
                    default=0))
