# SPDX-License-Identifier: Apache-2.0

"""The head of a Pcloud's page, as its owner sees it."""

from pcloud.tests.dashboard.browser import base


class HeadTest(base.BrowserTest):

    def test_how_full_and_what_is_wrong(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.new_server('bob', 'one', pcloud)
        self.client('bob').add_host(pcloud.id, 'web-2', 'gold')
        self.log_in('bob')
        for tab in ('hosts', 'settings'):
            self.open_pcloud(pcloud, tab)
            self.wait_for_text('.pcloud-doughnuts',
                               '1 used, 9 free, 10 on hosts that take no new')
            self.wait_for_text('.pcloud-chips', 'web-1 must not fail')
            self.assert_well_made()
        self.picture('dashboard-head', '#main_content')
        self.assertNotIn(pcloud.id, self.text('#main_content'))
        self.click('.pcloud-copy')
        self.wait_for_text('body', 'The ID is copied.')
        self.click('.pcloud-chips a[href*=pcloud__failures]')
        self.find('#pcloud-survives')
        self.assert_narrow()

    def test_a_session_that_has_ended_leads_to_the_login(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.log_in('bob')
        self.open_pcloud(pcloud)
        self.find('.pcloud-doughnuts')
        self.driver.execute_cdp_cmd('Network.clearBrowserCookies', {})
        self.click('#pcloud-host-web-1 [role=switch]')

        self.wait(lambda: '/auth/login' in self.driver.current_url,
                  'The login is not shown')
