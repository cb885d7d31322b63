# SPDX-License-Identifier: Apache-2.0

"""Pictures of hosts."""

import unittest

from pcloud_sandbox.stories import hosts

EVERYBODY = {'pool': None, 'pcloud': None, 'alias': None}


class PictureTest(unittest.TestCase):

    def test_by_pool_and_pcloud(self):
        found = {
            'node-1': hosts.ComputeHost(
                'gpu', 'shop of alice', 'web1', ('inside',)),
            'node-4': hosts.ComputeHost(**EVERYBODY, servers=('a', 'outside')),
            'node-2': hosts.ComputeHost('gpu', None, None, ()),
            'node-3': hosts.ComputeHost(**EVERYBODY, servers=()),
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
