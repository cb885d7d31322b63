# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What administrators do: host flavors, pools, quotas, findings."""

from pcloud.tests.dashboard.browser import base


class AdministratorTest(base.BrowserTest):

    def test_a_host_flavor_and_its_pool(self):
        self.log_in('admin')
        self.open('/admin/host_flavors/')
        self.click('#host_flavors__action_create')
        self.fill('id', 'bronze')
        self.fill('units', '1')
        self.submit()
        self.wait_for_text('#host_flavors', 'bronze')
        self.addCleanup(self.admin.send, 'DELETE',
                        self.compute + '/os-host-flavors/bronze')
        service = next(
            each for each in self.admin.get(
                self.compute + '/os-services?binary=nova-compute')['services']
            if each['host'] == 'node-6')
        url = f'{self.compute}/os-services/{service["id"]}'
        self.addCleanup(self.admin.send, 'PUT', url, {'status': 'enabled'})

        self.open('/admin/host_flavors/bronze/')
        self.click('#pcloud-add-pool-host')
        self.wait_for_text('.pcloud-computes', 'node-1')
        self.wait_for_text('.pcloud-computes', 'is in the pool of gold')
        self.wait_for_text('.pcloud-computes', 'is enabled: disable its')
        self.assertFalse(self.find('input[value=node-1]').is_enabled())
        self.assertFalse(self.find('input[value=node-6]').is_enabled())
        self.admin.send('PUT', url, {'status': 'disabled'})
        self.open('/admin/host_flavors/bronze/')
        self.click('#pcloud-add-pool-host')
        self.click('input[value=node-6]')
        self.submit()
        self.wait_for_text('#main_content', 'node-6')
        self.assert_quiet()
        self.assert_named()
        self.assert_fits_the_window()
        self.click('#main_content .pcloud-row-actions .btn-danger')
        self.submit()
        self.wait_for_text('#main_content', 'The pool has no hosts yet.')

    def test_all_pclouds_quota_and_findings(self):
        self.new_pcloud('carol', 'farm of carol', 'web-1')
        project = self.project_id('carol')
        self.addCleanup(
            self.admin.send, 'DELETE',
            f'{self.compute}/os-pcloud-quotas/{project}')
        self.log_in('admin')
        self.open('/admin/pclouds/')
        self.wait_for_text('#all_pclouds', 'farm of carol')
        self.wait_for_text('#all_pclouds', 'carol')
        self.wait_for_text('#main_content', 'Findings of the audit')
        self.assert_quiet()
        self.assert_named()
        self.assert_fits_the_window()
        self.click(f'a[href*="{project}"]')
        self.fill('units', '7')
        self.submit()
        self.wait(lambda: self.client('carol').get_quota(
            project).units_limit == 7, 'The quota was not saved')

    def test_a_member_sees_no_panel(self):
        self.log_in('carol')
        self.open('/admin/host_flavors/')
        self.assertNotIn('Create Host Flavor', self.driver.page_source)
