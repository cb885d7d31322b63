# SPDX-License-Identifier: Apache-2.0

"""The panel while the cloud does not answer."""

import signal

from pcloud.tests.dashboard.browser import base


class OutageTest(base.BrowserTest):

    def test_nova_does_not_answer(self):
        self.log_in('bob')
        self.open('/project/pclouds/')
        self.find('#pclouds')
        for process in self.nova():
            self.addCleanup(process.send_signal, signal.SIGCONT)
            process.send_signal(signal.SIGSTOP)
        self.driver.refresh()

        self.wait_for_text('body', 'The compute service does not answer.')
        self.assertNotIn('Traceback', self.driver.page_source)
        self.find('#pclouds')

    def nova(self):
        """Return the processes of Nova: API, scheduler and compute hosts.

        A start takes minutes on a busy machine, so they are held, not ended.
        """
        found = [process for process in base.base.processes_of(self.folder)
                 if any('nova_all' in part for part in process.cmdline())]
        self.assertTrue(found)
        return found
