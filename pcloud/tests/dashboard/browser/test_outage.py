# SPDX-License-Identifier: Apache-2.0

"""The panel while the cloud does not answer."""

from pcloud.tests.dashboard.browser import base


class OutageTest(base.BrowserTest):
    """The panel while nova-api is down, and in a cloud without Pclouds."""

    def test_nova_is_down(self):
        self.log_in('bob')
        self.open('/project/pclouds/')
        self.find('#pclouds')
        self.addCleanup(base.base.call, self.folder, 'start', 'nova')
        base.base.call(self.folder, 'stop', 'nova')
        self.driver.refresh()

        self.wait_for_text('body', 'The compute service does not answer.')
        self.assertNotIn('Traceback', self.driver.page_source)
        self.find('#pclouds')
