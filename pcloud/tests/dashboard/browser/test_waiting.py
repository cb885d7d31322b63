# SPDX-License-Identifier: Apache-2.0

"""Waiting lists, spares, usage, and a telephone's width."""

import datetime

from pcloud.tests.dashboard.browser import base


class WaitingTest(base.BrowserTest):

    def test_wait_for_a_host_and_keep_a_spare(self):
        taken = self.new_pcloud('alice', 'all', 'only', flavor='silver')
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.addCleanup(self._end_waiting, pcloud.id)
        self.log_in('bob')
        self.open_pcloud(pcloud)
        self.click('#pcloud-add-hosts')
        silver = 'form.pcloud-add-hosts input[value=silver]'
        self.wait(lambda: self.driver.find_elements(base.CSS, silver),
                  'There is no dialog')
        self.wait(lambda: self.driver.find_elements(
            base.CSS, f'{silver}:disabled'), 'Silver can be chosen')
        soon = datetime.date.today() + datetime.timedelta(days=20)
        self.fill_moment('wait_until', f'{soon}T00:00')
        self.driver.execute_script(
            '$("[name=wait_until]").trigger("change")')
        self.click(silver)
        self.fill('name', 'web-2')
        self.wait_for_text('.pcloud-preview-units', 'waits for the others')
        self.submit()

        self.wait_for_text('#pcloud-waiting', 'waits for 1 host')
        self.find('.pcloud-doughnuts')
        self.picture('dashboard-waiting')
        self.assert_well_made()
        self.click('#pcloud-host-web-1 .pcloud-spare button')
        self.wait_for_text('#pcloud-host-web-1 .pcloud-state', 'spare')
        self.assert_narrow()
        self.click('#pcloud-waiting .btn-default')
        self.submit()
        self.wait(lambda: not self.driver.find_elements(
            base.CSS, '#pcloud-waiting'), 'The Pcloud still waits')
        self.assertEqual(1, len(self.client('alice').list_hosts(taken.id)))

    def _end_waiting(self, pcloud_id):
        client = self.client('bob')
        for each in client.list_waiting(pcloud_id):
            client.cancel_waiting(pcloud_id, each.id)

    def test_usage(self):
        self.new_pcloud('bob', 'farm', 'web-1')
        self.log_in('bob')
        self.open('/project/pclouds/usage')
        self.wait_for_text('#pcloud-usage', 'gold')
        self.find('.pcloud-stack')
        self.picture('dashboard-usage')
        self.assert_well_made()
        self.assert_narrow()
        self.log_in('admin')
        self.open('/admin/pclouds/usage')
        self.wait_for_text('#pcloud-usages', 'bob')
        self.assert_quiet()

    def test_the_focus_returns_to_the_button(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.log_in('bob')
        self.open_pcloud(pcloud)
        self.click('#pcloud-add-hosts')
        self.wait(lambda: self.driver.switch_to.active_element.get_attribute(
            'name') == 'host_flavor', 'The kind has not the focus')
        self.click('.modal.in .cancel')
        self.wait(lambda: self.driver.switch_to.active_element.get_attribute(
            'id') == 'pcloud-add-hosts', 'The button has not the focus')

    def test_a_telephone(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.new_server('bob', 'one', pcloud)
        self.log_in('bob')
        for tab in ('hosts', 'fit', 'failures', 'moves', 'tenants',
                    'settings'):
            self.open_pcloud(pcloud, tab)
            self.find('.pcloud-doughnuts')
            self.assert_narrow()
