# SPDX-License-Identifier: Apache-2.0

import ddt
from oslotest import base

from pcloud.rules.placing import free_memory


@ddt.ddt
class FreeMemoryTest(base.BaseTestCase):

    @ddt.data(
        # memory, free, wanted, passes
        (8192, 1537, 1536, True),
        (8192, 1536, 1536, False),
        (8192, 1535, 1536, False),
        (8192, 0, 0, False),
        (8192, -512, 0, False),
        (8192, None, 1536, True),
        (0, -512, 1536, True),
        (None, None, 1536, True))
    @ddt.unpack
    def test_is_enough(self, memory, free, wanted, passes):
        self.assertIs(passes, free_memory.is_enough(memory, free, wanted))

    @ddt.data((8192, 0, True), (8192, None, False), (0, -512, False),
              (None, None, False))
    @ddt.unpack
    def test_is_known(self, memory, free, known):
        self.assertIs(known, free_memory.is_known(memory, free))
