# SPDX-License-Identifier: Apache-2.0

"""From the login to a running server, as a newcomer does it."""

from pcloud.tests.dashboard.browser import base


class ShortStoryTest(base.BrowserTest):
    """The story that every change has to tell, where there is a browser."""

    def test_create_add_enable_launch(self):
        self.log_in('alice')
        self.open('/project/pclouds/')
        self.click('#pclouds__action_create')
        self.fill('name', 'render farm')
        self.submit()
        self.click('#pcloud-first-host')
        pcloud_id = self.driver.current_url.split('/')[-2]
        self.addCleanup(self.remove_pcloud, 'alice', pcloud_id)
        self.click('form.pcloud-add-hosts input[value=gold]')
        self.fill('count', '2')
        self.fill('name', 'web-{n}')
        self.wait_for_text('.pcloud-preview-names', 'web-1, web-2')
        self.wait_for_text('.pcloud-preview-units',
                           '0 of 10 before, 4 of 10 after')
        self.click('form.pcloud-add-hosts [name=enable] ~ label, '
                   'form.pcloud-add-hosts label[for=id_enable]')
        self.picture('dashboard-add-hosts', '.modal-content')
        self.submit()

        self.wait_for_text('#pcloud-host-web-1 .pcloud-state', 'disabled')
        for name in ('web-1', 'web-2'):
            self.click(f'#pcloud-host-{name} [role=switch]')
            self.wait_for_text(
                f'#pcloud-host-{name} .pcloud-state', 'enabled')
        self.assert_well_made()

        self.click('#pcloud-launch')
        self.launch('frame-1', 'm1.tiny')
        self.step('Pcloud')
        self.wait_for_text('wizard .pcloud-room', '32')
        self.picture('dashboard-launch', '.modal-content')
        self.click('wizard button.finish')

        self.wait(self._has_server, 'The page does not show the server')
        self.click('.pcloud-hosts .pcloud-servers a')
        self.wait(self._is_active, 'The server is not active')
        self.open(f'/project/pclouds/{pcloud_id}/')
        self.wait_for_text('.pcloud-vcpus', '1 of 10')
        self.assert_well_made()

    def _has_server(self):
        if self.driver.find_elements(base.CSS, 'wizard'):
            return False
        self.driver.refresh()
        return 'frame-1' in self.text('.pcloud-hosts')

    def _is_active(self):
        self.driver.refresh()
        return 'Active' in self.text('#main_content')
