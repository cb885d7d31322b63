# SPDX-License-Identifier: Apache-2.0

"""An owner without a mouse."""

from selenium.webdriver.common import keys as selenium_keys

from pcloud.tests.dashboard.browser import base

ENTER, SPACE = selenium_keys.Keys.ENTER, selenium_keys.Keys.SPACE


class KeyboardTest(base.BrowserTest):

    def test_create_enable_fit(self):
        self.log_in('bob')
        self.open('/project/pclouds/')
        self.tab_to('#pclouds__action_create')
        self.press(ENTER)
        self.tab_to('.modal.in [name=name]')
        self.press('farm', ENTER)

        self.tab_to('#pcloud-first-host')
        pcloud_id = self.driver.current_url.split('/')[-2]
        self.addCleanup(self.remove_pcloud, 'bob', pcloud_id)
        self.press(ENTER)
        self.find('.modal.in form.pcloud-add-hosts [name=count]')
        self.tab_to('.modal.in [name=enable]')
        self.press(SPACE)
        self.tab_to('.modal.in input[type=submit]')
        self.press(ENTER)

        self.wait_for_text('#pcloud-host-host-1 .pcloud-state', 'disabled')
        self.tab_to('[role=switch]')
        self.press(SPACE)
        self.wait_for_text('#pcloud-host-host-1 .pcloud-state', 'enabled')
        # Who has pressed the switch is still there.
        self.wait(lambda: self.driver.switch_to.active_element.get_attribute(
            'role') == 'switch', 'The switch has lost the focus')
        self.press(SPACE)
        self.wait_for_text('#pcloud-host-host-1 .pcloud-state', 'disabled')

        self.tab_to('a[data-target="#pcloud__fit"]')
        self.press(ENTER)
        self.wait_for_text('#pcloud-fits', '0')
        self.tab_to('#pcloud-flavor')
        self.press('m1.large')
        self.tab_to('#pcloud__fit .pcloud-choose button')
        self.press(ENTER)
        self.wait_for_text('.pcloud-fits', 'm1.large')
        self.tab_to('.pcloud-change')
        self.press(ENTER)
        self.wait_for_text('#pcloud-fits', '1')
        self.assert_well_made()
