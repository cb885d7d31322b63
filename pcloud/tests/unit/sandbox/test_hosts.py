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

"""Pictures of hosts."""

import unittest

from pcloud_sandbox.stories import hosts

EVERYBODY = {'pool': None, 'pcloud': None, 'alias': None}


class PictureTest(unittest.TestCase):

    def test_by_pool_and_pcloud(self):
        found = {
            'node-1': hosts.Host('gpu', 'shop of alice', 'web1', ('inside',)),
            'node-4': hosts.Host(**EVERYBODY, servers=('a', 'outside')),
            'node-2': hosts.Host('gpu', None, None, ()),
            'node-3': hosts.Host(**EVERYBODY, servers=()),
        }
        self.assertEqual([
            'for everybody             pool of gpu: for nobody   '
            'Pcloud shop of alice',
            '+----------------------+  +----------------------+  '
            '+----------------------+',
            '| node-3               |  | node-2               |  '
            '| node-1 = web1        |',
            '| node-4 [a] [outside] |  +----------------------+  '
            '|   [inside]           |',
            '+----------------------+' + ' ' * 28 +
            '+----------------------+',
        ], hosts.picture(found))

    def test_no_hosts(self):
        self.assertEqual([], hosts.picture({}))
