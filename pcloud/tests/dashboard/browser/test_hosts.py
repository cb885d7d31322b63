# SPDX-License-Identifier: Apache-2.0

"""What owners do with hosts."""

from pcloud.tests.dashboard.browser import base

SWITCH = '#pcloud-host-{} [role=switch]'
STATE = '#pcloud-host-{} .pcloud-state'


class HostsTest(base.BrowserTest):

    def test_bars_are_measured_against_the_ratio(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.client('bob').update_pcloud(
            pcloud.id, cpu_allocation_ratio=0.2)
        self.new_server('bob', 'one', pcloud)
        self.log_in('bob')
        self.open_pcloud(pcloud)

        self.wait_for_text('.pcloud-vcpus', '1 of 2 (10 × 0.2)')
        self.assertEqual(50, self.width('.pcloud-vcpus'))
        self.wait_for_text('.pcloud-servers a', 'one')
        self.assert_well_made()

    def test_a_server_is_as_wide_as_its_share(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        for name, flavor in (('one', '1'), ('two', '2')):
            self.new_server('bob', name, pcloud, flavor)
        self.log_in('bob')
        self.open_pcloud(pcloud)

        self.find('.pcloud-memory .pcloud-bar-part')
        widths = {each.get_attribute('title'): each.rect['width']
                  for each in self.driver.find_elements(
                      base.CSS, '.pcloud-memory .pcloud-bar-part')}
        self.assertEqual({'one', 'two'}, widths.keys())
        # m1.tiny has 512 MiB, m1.small 2048 MiB.
        self.assertAlmostEqual(4, widths['two'] / widths['one'], delta=0.2)
        client = self.client('bob')
        client.add_host(pcloud.id, 'web-2', 'gold')
        client.set_host_state(pcloud.id, 'web-2', 'enabled')
        self.new_server('bob', 'db', pcloud, '4')
        self.open_pcloud(pcloud)
        self.wait_for_text('#pcloud-host-web-2 .pcloud-vcpus', '4 of 10')
        self.find('.pcloud-doughnuts')
        self.picture('dashboard-hosts')
        self.assert_well_made()

    def test_switch_drain_and_remove(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        server = self.new_server('bob', 'one', pcloud)
        self.log_in('bob')
        self.open_pcloud(pcloud)
        table = self.find('.pcloud-hosts')

        self.assertIn('The host is enabled', self.find(
            '#pcloud-host-web-1 .pcloud-cannot').accessible_name)
        self.click('#pcloud-host-web-1 .pcloud-remove')
        self.wait_for_text('.pcloud-blockers', 'The host is enabled')
        self.wait_for_text('.pcloud-blockers', '1 instance is on the host')
        self.submit()
        self.wait_for_text('.modal.in .alert', 'web-1')
        self.assertNotIn('HTTP', self.text('.modal.in'))
        self.click('.modal.in .cancel')
        self.click(SWITCH.format('web-1'))
        self.wait_for_text(STATE.format('web-1'), 'disabled')
        # The page has not been loaded anew.
        self.assertTrue(table.is_displayed())
        self.click('#pcloud-host-web-1 .pcloud-row-actions .btn-default')
        self.choose('move', 'none')
        self.submit()
        self.wait_for_text('.pcloud-forecast',
                           'one stays until you move or delete it.')
        self.submit()
        self.wait_for_text(STATE.format('web-1'), 'draining')
        self.wait_for_text('#pcloud-host-web-1', '1 instance left')
        self.click(SWITCH.format('web-1'))
        self.wait_for_text(STATE.format('web-1'), 'disabled')
        self.admin.send('DELETE', f'{self.compute}/servers/{server}')
        self.wait(lambda: not self.client('bob').get_host(
            pcloud.id, 'web-1').instances, 'The server is not gone')
        self.open_pcloud(pcloud)
        self.click('#pcloud-host-web-1 .pcloud-remove')
        self.wait_for_text('.modal.in', 'web-1 is disabled and empty')
        self.submit()
        self.find('#pcloud-first-host')
        self.assert_well_made()

    def test_drain_moves_servers(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.new_server('bob', 'one', pcloud)
        client = self.client('bob')
        self.log_in('bob')
        self.open_pcloud(pcloud)
        self.click('#pcloud-host-web-1 .pcloud-row-actions .btn-default')
        self.submit()
        self.wait_for_text('.pcloud-forecast', 'one stays: ')
        self.click('.modal.in .cancel')
        client.add_host(pcloud.id, 'web-2', 'gold')
        client.set_host_state(pcloud.id, 'web-2', 'enabled')
        self.click('#pcloud-host-web-1 .pcloud-row-actions .btn-default')
        # Each language of a browser has its own keys for a date.
        self.driver.execute_script(
            'arguments[0].value = "2100-01-01T00:00"',
            self.find('form [name=deadline]'))
        self.submit()
        self.wait_for_text('.pcloud-forecast',
                           'one moves, for example to web-2.')
        self.picture('dashboard-drain', '.modal-content')
        self.assert_quiet()
        self.submit()
        self.wait(lambda: client.get_host(pcloud.id, 'web-2').instances,
                  'The server does not move')
        self.wait(lambda: self._drained(pcloud), 'web-1 is not empty')
        self.wait_for_text('.pcloud-drain', 'Until ')
        self.assert_well_made()
        self.click('.pcloud-cancel-drain')
        self.wait_for_text(STATE.format('web-1'), 'enabled')
        self.assertIsNone(client.get_host(pcloud.id, 'web-1').drain)

    def _drained(self, pcloud):
        self.open_pcloud(pcloud)
        return '0 instances left' in self.text('.pcloud-drain')

    def test_a_maintenance(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        admin = self.client('admin')
        real = admin.get_host(pcloud.id, 'web-1').hypervisor_hostname
        self.addCleanup(admin.unset_maintenance, 'gold', real)
        admin.set_maintenance(
            'gold', real, '2100-01-01T20:00:00Z', 'Two disks are replaced',
            '2100-01-01T22:00:00Z')
        self.log_in('bob')
        self.open_pcloud(pcloud)
        for text in ('Maintenance from', '2100', 'Two disks are replaced',
                     'Instances stay on the host.'):
            self.wait_for_text('.pcloud-maintenance', text)
        self.open_pcloud(pcloud, 'settings')
        self.click('#pcloud-edit')
        self.choose('maintenance_policy', 'replace')
        self.submit()
        self.wait_for_text('#main_content',
                           'a free host takes the place of the host')
        self.assertEqual('replace', self.client('bob').get_pcloud(
            pcloud.id).maintenance_policy)
        self.open_pcloud(pcloud)
        self.wait_for_text('.pcloud-maintenance',
                           'A free host takes the place of the host.')
        self.assert_well_made()

    def test_more_hosts_than_there_are(self):
        pcloud = self.new_pcloud('bob', 'farm')
        self.log_in('bob')
        self.open_pcloud(pcloud)
        self.click('#pcloud-first-host')
        self.click('form.pcloud-add-hosts input[value=silver]')
        self.fill('count', '2')
        self.wait_for_text('.pcloud-preview', 'No more than 1')
        self.submit()

        # All of them or none.
        self.wait_for_text('.modal.in', 'only 1 free')
        self.assertNotIn('HTTP', self.text('.modal.in'))
        self.assertEqual([], self.client('bob').list_hosts(pcloud.id))
        self.fill('count', '1')
        self.submit()
        self.wait_for_text(STATE.format('host-1'), 'enabled')
        self.click('#pcloud-add-hosts')
        self.wait_for_text('.pcloud-card.pcloud-none', 'none free')
        self.click('form.pcloud-add-hosts input[value=gold]')
        self.fill('count', '5')
        self.wait_for_text('.pcloud-preview',
                           'That is 1 more than the quota allows.')
        self.click('.pcloud-card input[value=""]')
        self.find('.pcloud-card [name=constraints]').send_keys('ram=1T')
        self.fill('count', '1')
        self.submit()
        self.wait_for_text('.modal.in .alert, .modal.in .help-block, '
                           '.modal.in .errorlist', 'free host')
