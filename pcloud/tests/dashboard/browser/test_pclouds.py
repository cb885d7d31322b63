# SPDX-License-Identifier: Apache-2.0

"""The list of Pclouds and the page of a Pcloud, and who sees what."""

import re
import uuid

from pcloud.tests.dashboard.browser import base


class PcloudsTest(base.BrowserTest):

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
        self.assertEqual(20, self.width('.pcloud-gauge'))
        self.picture('dashboard-pclouds')
        self.assert_well_made()

    def open_as(self, user, path):
        self.log_in(user)
        self.open(path)

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
