# SPDX-License-Identifier: Apache-2.0

"""What owners, tenants and readers do in the panel, page by page."""

import re
import uuid

from selenium.webdriver.support import select

from pcloud.tests.dashboard.browser import base

SWITCH = '#pcloud-host-{} [role=switch]'
STATE = '#pcloud-host-{} .pcloud-state'
# What the tab Moves shows of a plan that is being made.
UNDER_WAY = """
$('#pcloud-plan-part').append(
    '<section id="pcloud-under-way" class="pcloud-pending">One</section>');
horizon.tabs.initTabLoad($('#pcloud__moves'));
"""


class OwnerTest(base.BrowserTest):

    def test_list_and_gauge(self):
        self.open_as('bob', '/project/pclouds/')
        self.wait_for_text('#main_content', '0 of 10 in use')
        self.assert_well_made()
        self.new_pcloud('bob', 'farm', 'web-1')
        self.open('/project/pclouds/')

        self.wait_for_text('#pclouds', 'farm')
        self.wait_for_text('#pclouds', '1 (1 empty)')
        quota = self.client('bob').get_quota(self.project_id('bob'))
        self.wait_for_text('.pcloud-gauge', f'{quota.units_in_use} of 10')
        self.assertEqual(20, self._width('.pcloud-gauge'))
        self.picture('dashboard-pclouds')
        self.assert_well_made()

    def open_as(self, user, path):
        self.log_in(user)
        self.open(path)

    def _width(self, selector):
        """Return the width of a bar in the page, in percent."""
        used, track = (
            self.find(f'{selector} .pcloud-bar-{part}').rect['width']
            for part in ('used', 'track'))
        return round(100 * used / (track - 2))

    def test_bars_are_measured_against_the_ratio(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.client('bob').update_pcloud(
            pcloud.id, cpu_allocation_ratio=0.2)
        self.new_server('bob', 'one', pcloud)
        self.log_in('bob')
        self.open_pcloud(pcloud)

        self.wait_for_text('.pcloud-vcpus', '1 of 2 (10 × 0.2)')
        self.assertEqual(50, self._width('.pcloud-vcpus'))
        self.wait_for_text('.pcloud-servers a', 'one')
        self.assert_well_made()

    def test_instances_show_pcloud_and_host(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        carol = self.project_id('carol')
        self.client('bob').add_tenant(pcloud.id, carol)
        server = self.new_server('bob', 'one', pcloud)
        lent = self.new_server('carol', 'two', pcloud)
        self.open_as('bob', '/project/instances/')
        self.wait_for_text(f'#instances__row__{server}', 'farm / web-1')
        self.picture('dashboard-instances')
        self.assert_quiet()
        self.assert_no_real_host()
        self.open(f'/project/instances/{server}/?tab=instance_details__pcloud')
        self.wait_for_text('#instance_details__pcloud', 'web-1')
        self.assert_quiet()
        self.click('#instance_details__pcloud a')
        self.find('#pcloud-host-web-1')

        self.open_as('carol', '/project/instances/')
        self.wait_for_text(f'#instances__row__{lent}', 'farm')
        self.assertNotIn('web-1', self.driver.page_source)
        self.open(f'/project/instances/{lent}/?tab=instance_details__pcloud')
        self.wait_for_text('#instance_details__pcloud', 'known to the owner')
        self.assertNotIn('web-1', self.driver.page_source)

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
        self.wait_for_text('.pcloud-blockers', '1 server is on the host')
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

    def test_fit(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1', 'web-2')
        client = self.client('bob')
        client.set_host_state(pcloud.id, 'web-2', 'disabled')
        self.new_server('bob', 'one', pcloud, '4')
        self.log_in('bob')
        self.open_pcloud(pcloud, 'fit')
        self.choose('flavor', '4')
        self.click('#pcloud__fit .pcloud-choose button')

        self.wait_for_text('.pcloud-fits', 'm1.large')
        explained = client.explain(pcloud.id, '4')
        self.assertEqual(str(explained.fits), self.text('#pcloud-fits'))
        for host in explained.hosts:
            for each in host.in_the_way:
                self.wait_for_text('.pcloud-reason', each.reason)
        self.assertEqual(['web-1: 1 instance runs, 0 more fit',
                          'web-2: 0 instances run, 0 more fit'],
                         [each.accessible_name for each in
                          self.driver.find_elements(
                              base.CSS, '.pcloud-scale')])
        self.picture('dashboard-fit')
        self.assert_well_made()
        self.click('//button[contains(., "Enable web-2")]', base.XPATH)
        self.wait_for_text('#pcloud-fits', '1')
        self.new_server('bob', 'two', pcloud, '4')
        self.open_pcloud(pcloud, 'fit&flavor=4')
        self.wait_for_text('#pcloud-fits', '0')
        self.click('//button[contains(., "Add one host")]', base.XPATH)
        self.wait_for_text('#pcloud-fits', '1')
        self.assert_well_made()

    def test_a_bundle(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1', 'web-2')
        self.log_in('bob')
        self.open_pcloud(pcloud, 'fit')
        self.find('#pcloud-bundle [name=bundle_count]').send_keys('2')
        select.Select(self.find(
            '#pcloud-bundle [name=bundle_flavor]')).select_by_value('4')
        self.click('#pcloud-bundle [name=bundle_apart]')
        self.click('#pcloud-bundle button')
        self.wait_for_text('#pcloud-bundle-answer', 'The bundle fits.')
        for name in ('web-1', 'web-2'):
            self.wait_for_text(
                '#pcloud-bundle-answer', f'{name}: 1 × m1.large')
        self.assert_well_made()
        self.fill('bundle_count', '3')
        self.click('#pcloud-bundle button')
        self.wait_for_text('#pcloud-bundle-answer', 'does not fit')
        self.wait_for_text('#pcloud-bundle-answer', 'more of host flavor')
        self.fill('bundle_count', '2')
        self.fill('bundle_without', 'web-2')
        self.click('#pcloud-bundle button')
        self.wait_for_text('#pcloud-bundle-answer', 'does not fit')
        self.assert_well_made()

    def test_failures(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        client = self.client('bob')
        self.new_server('bob', 'one', pcloud)
        self.log_in('bob')
        self.open_pcloud(pcloud, 'failures')
        self.wait_for_text('#pcloud-survives', '0 of 1 hosts may fail.')
        self.wait_for_text('.pcloud-losses', '1 instance does not fit')
        self.wait_for_text('#main_content', '1 more of host flavor')
        self.assert_well_made()
        client.add_host(pcloud.id, 'web-2', 'gold')
        self.open_pcloud(pcloud, 'failures')
        self.click('//button[contains(., "Enable web-2")]', base.XPATH)
        self.wait_for_text('#pcloud-survives', 'Any host may fail')
        self.wait_for_text('#pcloud-matrix', 'web-2 takes over 1')
        self.picture('dashboard-failures')
        self.choose('lose', 'rack')
        self.click('#pcloud__failures form button')
        self.wait_for_text('#pcloud-survives', 'The racks of the hosts are '
                           'not known.')
        self.assert_well_made()

    def test_hosts_that_would_help(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.new_server('bob', 'one', pcloud)
        self.log_in('bob')
        self.open_pcloud(pcloud, 'failures')
        self.click('//a[contains(., "Add 1 Host of gold")]', base.XPATH)
        self.assertTrue(self.find(
            'form.pcloud-add-hosts input[value=gold]').is_selected())
        self.wait_for_text('.pcloud-preview-units',
                           '2 of 10 before, 4 of 10 after')
        self.submit()
        self.wait_for_text('#pcloud-survives', 'Any host may fail')
        self.assert_well_made()
        self.open_pcloud(pcloud, 'fit&bundle_flavor=4&bundle_count=3')
        self.click('//a[contains(., "Hosts of gold") or '
                   'contains(., "Host of gold")]', base.XPATH)
        self.submit()
        self.wait_for_text('#pcloud-bundle-answer', 'The bundle fits.')
        self.assert_quiet()

    def test_moves(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        client = self.client('bob')
        for name in ('one', 'two'):
            self.new_server('bob', name, pcloud)
        client.set_host_state(pcloud.id, 'web-1', 'disabled')
        client.add_host(pcloud.id, 'web-2', 'gold')
        client.set_host_state(pcloud.id, 'web-2', 'enabled')
        self.new_server('bob', 'three', pcloud)
        client.set_host_state(pcloud.id, 'web-1', 'enabled')
        self.log_in('bob')
        self.open_pcloud(pcloud, 'moves')
        self.wait_for_text('#pcloud-plan', 'becomes empty.')
        self.wait_for_text('.pcloud-moves', 'three')
        self.wait_for_text('#pcloud-plan', '1 move gives 2 units back')
        self.assertEqual(2, len(self.driver.find_elements(
            base.CSS, '#pcloud-stacks [role=img]')))
        self.picture('dashboard-moves')
        self.assert_well_made()
        # What the plan depends on changes.
        self.new_server('bob', 'four', pcloud)
        self.click('#pcloud-begin')
        self.wait_for_text('.messages', 'plan')
        self.wait_for_text('#pcloud-plan', 'becomes empty.')
        self.click('#pcloud-begin')
        self.wait_for_text('body', 'being moved.')
        self._is_followed_to_the_end()
        self.assertTrue(self._has_empty_host(client, pcloud))
        # However fast the moves were: a page that has not heard of the end.
        self.driver.execute_script(UNDER_WAY)
        self.find('#pcloud-under-way')
        self._is_followed_to_the_end()
        self.assert_well_made()
        self.click('#pcloud-goal [value=fit]')
        self.choose('flavor', '4')
        self.click('#pcloud-goal button')
        self.wait_for_text('#pcloud-plan', 'All of them fit now')
        self.assert_well_made()

    def _has_empty_host(self, client, pcloud):
        return any(host.instances == () for host
                   in client.list_hosts(pcloud.id))

    def _is_followed_to_the_end(self):
        """Wait for the end of moves, without loading the page.

        What the user does meanwhile stays as it is.
        """
        field = self.find('#pcloud-max-moves')
        field.clear()
        field.send_keys('12')
        self.wait(lambda: not self.driver.find_elements(
            base.CSS, '.pcloud-followed, #pcloud-under-way'),
            'The page goes on for ever')
        self.wait_for_text('#pcloud-plan', 'No host can be made empty.')
        self.assertEqual('12', field.get_attribute('value'))
        self.assertEqual(field, self.driver.switch_to.active_element)
        field.clear()

    def test_tenants(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        carol = self.project_id('carol')
        self.log_in('bob')
        self.open_pcloud(pcloud, 'tenants')
        self.wait_for_text('#main_content', 'bob')
        self.click('#pcloud-add-tenant')
        self.fill('project', 'carol')
        self.submit()
        self.wait_for_text(f'#pcloud-tenant-{carol}', 'carol')
        self.click(f'#pcloud-tenant-{carol} .pcloud-cap')
        self.fill('max_vcpus', '4')
        self.submit()
        self.wait_for_text(f'#pcloud-tenant-{carol}', '0 of at most 4')
        self.find('.pcloud-doughnuts')
        self.picture('dashboard-tenants')
        self.assert_well_made()

        self.log_in('carol')
        self.open('/project/pclouds/')
        self.wait_for_text('#pclouds', 'lent to you')
        self.assertNotIn('Delete Pcloud', self.driver.page_source)
        self.open_pcloud(pcloud)
        self.wait_for_text('#main_content', 'is lent to your project')
        self.assertNotIn('web-1', self.driver.page_source)
        self.assert_well_made()
        self.click('#pcloud-launch')
        self.step('Pcloud')
        self.wait_for_text('.pcloud-chosen', pcloud.name)
        self.wait_for_text('.pcloud-chosen', 'lent to you')

    def test_a_tenant_that_is_removed(self):
        pcloud = self.new_pcloud('bob', 'farm')
        carol = self.project_id('carol')
        self.client('bob').add_tenant(pcloud.id, carol)
        self.log_in('bob')
        self.open_pcloud(pcloud, 'tenants')
        self.click(f'#pcloud-tenant-{carol} .btn-danger')
        self.submit()
        self.wait(lambda: 'carol' not in self.text('.pcloud-tenants'),
                  'carol is still there')
        self.assertNotIn(carol, self.client('bob').get_pcloud(
            pcloud.id).tenants)

    def test_settings(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.log_in('bob')
        self.open_pcloud(pcloud, 'settings')
        self.wait_for_text('.pcloud-inherited', 'as the cloud has it')
        self.click('#pcloud-edit')
        self.fill('name', 'new name')
        self.fill('cpu_allocation_ratio', '-1')
        self.submit()
        self.wait_for_text('.modal.in', 'A ratio is more than 0')
        self.fill('cpu_allocation_ratio', '0.01')
        self.submit()
        self.wait_for_text('.modal.in', 'less than one vCPU is left on web-1')
        self.fill('cpu_allocation_ratio', '2')
        self.submit()
        self.wait_for_text('h1', 'new name')
        self.click('#pcloud-requirements')
        self.fill('constraints', 'ram=2G')
        self.submit()
        self.wait_for_text('#main_content', '2G')
        self.click('#pcloud-make-default')
        self.choose('mode', 'prefer')
        self.submit()
        self.wait_for_text('#pcloud-default', 'start here while there is '
                           'capacity, and else outside. (set for the project)')
        self.assert_well_made()
        self.click('#pcloud-make-default')
        self.wait(lambda: 'prefer' == self.find(
            'form [name=mode]').get_attribute('value'),
            'The present mode is not filled in')
        self.choose('mode', 'grow')
        self.choose('host_flavor', 'gold')
        self.fill('max_hosts', '3')
        self.submit()
        self.wait_for_text('#pcloud-default', 'up to 3 hosts.')
        self.click('#pcloud-no-default')
        self.submit()
        self.wait_for_text('#pcloud-default', 'outside of Pclouds')
        found = self.client('bob').get_pcloud(pcloud.id)
        self.assertEqual(('new name', 2.0),
                         (found.name, found.cpu_allocation_ratio))

    def test_delete(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.log_in('bob')
        self.open_pcloud(pcloud)
        self.click('#pcloud-delete')
        self.submit()
        self.wait_for_text('.modal.in .alert', 'hosts')

    def test_reader(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        name = f'reader-{uuid.uuid4().hex[:8]}'
        keystone = self.chosen.auth_url
        user = self.admin.send('POST', f'{keystone}/users', {'user': {
            'name': name, 'password': self.chosen.password,
            'domain_id': 'default'}})['user']['id']
        role = self.admin.get(f'{keystone}/roles?name=reader')[
            'roles'][0]['id']
        self.admin.send('PUT', f'{keystone}/projects/'
                        f'{self.project_id("bob")}/users/{user}/roles/{role}')
        self.log_in(name)
        for tab in ('hosts', 'fit', 'failures', 'moves', 'tenants',
                    'settings'):
            self.open_pcloud(pcloud, tab)
            self.find('.tab-pane.active > *')
            self.assertEqual([], [each.text for each in
                                  self.driver.find_elements(
                                      base.CSS, '#main_content .btn')
                                  if each.is_displayed() and
                                  each.text not in ('Show', 'Try', 'ID')])
        self.open('/project/pclouds/')
        self.wait_for_text('#pclouds', 'farm')
        self.assertNotIn('Create Pcloud', self.driver.page_source)
        self.assert_well_made()

    def test_an_administrator_sees_no_real_host_in_a_project(self):
        client = self.client('admin')
        pcloud = self.new_pcloud('admin', 'own', 'web-1')
        self.assertIsNotNone(
            client.get_host(pcloud.id, 'web-1').hypervisor_hostname)
        self.log_in('admin')
        for tab in ('hosts', 'fit', 'failures', 'moves', 'tenants',
                    'settings'):
            self.open_pcloud(pcloud, tab)
            self.find('.tab-pane.active > *')
            self.assert_no_real_host()

    def test_a_foreign_pcloud(self):
        pcloud = self.new_pcloud('bob', 'farm')
        self.log_in('carol')
        self.open_pcloud(pcloud)
        self.wait_for_text('.messages', str(pcloud.id))
        self.assertTrue(re.search('/project/pclouds/$',
                                  self.driver.current_url))


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
