# SPDX-License-Identifier: Apache-2.0

import ddt
import testtools

from pcloud.rules.placing import settling

ONE = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'
TWO = '9d0a8c1e-7b2f-4a3c-8e5d-6f7a8b9c0d1e'


@ddt.ddt
class MayLandTest(testtools.TestCase):

    @ddt.data(
        # What the host was before, what a request wants, whether it may land.
        (None, {}, True), (None, {'pcloud': [ONE]}, False),
        (ONE, {'pcloud': [ONE]}, True), (ONE, {'pcloud': [TWO]}, False),
        (ONE, {'pcloud': [ONE.upper()]}, False), (ONE, {}, False),
        (None, {'pcloud': ['x']}, False), (ONE, {'pcloud': [ONE, ONE]}, False),
        (None, {'pcloud': []}, False), (None, {'near': ['x']}, True),
        (None, None, True), (ONE, None, True),
        (None, {'pcloud': ['none']}, True), (ONE, {'pcloud': ['none']}, False),
        (None, {'pcloud_prefer': [ONE]}, True),
        (ONE, {'pcloud_prefer': [ONE]}, True),
        (TWO, {'pcloud_prefer': [ONE]}, False),
        (None, {'pcloud_prefer': ['x']}, False))
    @ddt.unpack
    def test_whom_a_host_is_open_to(self, pcloud, hints, wanted):
        request = settling.Request(100, hints)
        self.assertIs(wanted, settling.may_land(request, pcloud, 100))

    def test_when_it_began(self):
        for began, wanted in ((0, True), (104, True), (105, False)):
            self.assertIs(wanted, settling.may_land(
                settling.Request(began, {}), None, 100))
