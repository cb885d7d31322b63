# SPDX-License-Identifier: Apache-2.0

"""What a Pcloud is lent for."""

from pcloud.tests.dashboard.browser import base


class TenantsTest(base.BrowserTest):

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
