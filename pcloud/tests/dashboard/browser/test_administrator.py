# SPDX-License-Identifier: Apache-2.0

"""What administrators do: host flavors, pools, quotas, findings."""

import operator

from selenium.webdriver.common import keys
from selenium.webdriver.support import select

from pcloud.client import exceptions
from pcloud.tests.dashboard.browser import base


class AdministratorTest(base.BrowserTest):

    def test_a_host_flavor_and_its_pool(self):
        self.log_in('admin')
        self.open('/admin/host_flavors/')
        self.click('#host_flavors__action_create')
        self.fill('id', 'copper')
        self.fill('units', '1')
        self.submit()
        self.wait_for_text('#host_flavors', 'copper')
        self.addCleanup(self.admin.send, 'DELETE',
                        self.compute + '/os-host-flavors/copper')
        service = next(
            each for each in self.admin.get(
                self.compute + '/os-services?binary=nova-compute')['services']
            if each['host'] == 'node-6')
        url = f'{self.compute}/os-services/{service["id"]}'
        self.addCleanup(self.admin.send, 'PUT', url, {'status': 'enabled'})

        self.open('/admin/host_flavors/copper/')
        self.click('#pcloud-add-pool-host')
        self.wait_for_text('.pcloud-computes', 'node-1')
        self.wait_for_text('.pcloud-computes', 'is in the pool of gold')
        self.wait_for_text('.pcloud-computes', 'is enabled: disable its')
        self.assertFalse(self.find('input[value=node-1]').is_enabled())
        self.assertFalse(self.find('input[value=node-6]').is_enabled())
        self.admin.send('PUT', url, {'status': 'disabled'})
        self.open('/admin/host_flavors/copper/')
        self.click('#pcloud-add-pool-host')
        self.click('input[value=node-6]')
        self.submit()
        self.wait_for_text('#main_content', 'node-6')
        self.assert_quiet()
        self.assert_named()
        self.assert_fits_the_window()
        self.assert_narrow()
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
        self.wait_for_text('#pcloud-audit', 'Nothing is wrong.')
        self.wait_for_text('#pcloud-idle', '2 units are idle')
        self.picture('dashboard-all-pclouds')
        self.assert_quiet()
        self.assert_named()
        self.assert_fits_the_window()
        self.assert_narrow()
        self.click(f'a[href*="{project}"]')
        self.fill('units', '7')
        self.submit()
        self.wait(lambda: self.client('carol').get_quota(
            project).units_limit == 7, 'The quota was not saved')
        self.click('#all_pclouds__action_any_quota')
        self.choose('project_id', project)
        self.submit()
        self.wait(lambda: self.client('carol').get_quota(
            project).units_limit != 7, 'The default does not count')
        self.click('#all_pclouds a[href*="/project/pclouds/"]')
        self.wait_for_text('h1', 'farm of carol')
        self.assert_no_real_host()

    def pool_host(self, pcloud):
        """Return the compute host of a Pcloud with a single host."""
        host, = (each for flavor in self.client('admin').list_host_flavors()
                 for each in flavor.hosts if each.pcloud == pcloud.id)
        return host.host

    def test_the_map_and_a_maintenance(self):
        pcloud = self.new_pcloud('carol', 'farm of carol', 'web-1')
        self.new_server('carol', 'one', pcloud)
        host = self.pool_host(pcloud)
        square = f'.pcloud-square[title^="{host}:"]'
        self.log_in('admin')
        self.open('/admin/host_flavors/map')
        self.assertRegex(
            self.find(square).accessible_name,
            rf'^{host}: \d+ % of the memory is used, host flavor gold, '
            'zone .*, Pcloud farm of carol$')
        self.assertEqual(
            sum(len(each.hosts) for each in
                self.client('admin').list_host_flavors()),
            len(self.driver.find_elements(
                base.CSS, '.pcloud-map .pcloud-square')))
        self.wait_for_text('.pcloud-legend-of-map', 'farm of carol')
        self.picture('dashboard-map')
        self.assert_quiet()
        self.assert_named()
        self.assert_fits_the_window()
        self.assert_narrow()
        self.choose('measure', 'vcpus')
        self.choose('rows', 'flavor')
        self.click('.pcloud-choose [type=submit]')
        self.wait(lambda: 'of the vCPUs' in self.find(
            square).accessible_name, 'vCPUs are not shown')
        self.wait_for_text('.pcloud-map-row h4', 'silver')

        self.find(square).send_keys(keys.Keys.ENTER)
        row = f'#pcloud-pool-{host}'
        self.wait_for_text(row, 'farm of carol')
        self.assertTrue(self.driver.current_url.endswith(row))
        self.click(f'{row} .pcloud-row-actions .btn-default')
        self.fill_moment('begin', '2100-01-01T20:00')
        self.fill_moment('end', '2099-01-01T20:00')
        self.fill('reason', 'Two disks are replaced')
        self.submit()
        self.wait_for_text('.modal.in .alert', '2099')
        self.fill_moment('end', '2100-01-01T22:00')
        self.submit()
        self.wait_for_text(row, 'Two disks are replaced')
        self.assertEqual(
            '2100-01-01T22:00:00Z',
            self.client('carol').get_host(pcloud.id, 'web-1').maintenance[
                'until'])
        self.open('/admin/host_flavors/map')
        self.assertIn('maintenance from', self.find(
            f'{square}.pcloud-maintained').accessible_name)
        self.open('/admin/host_flavors/gold/')
        self.click(f'{row} [aria-label^="End"]')
        self.submit()
        self.wait(lambda: self.client('carol').get_host(
            pcloud.id, 'web-1').maintenance is None, 'It is not over')
        self.assert_quiet()

    def test_attributes(self):
        self.addCleanup(self.forget_attributes)
        self.log_in('admin')
        self.open('/admin/host_flavors/attributes')
        self.click('#pcloud-set-attribute')
        self.fill('name', 'next_reboot')
        self.fill('value', 'soon')
        self.choose('hosts', 'node-1')
        self.choose('hosts', 'node-2')
        self.submit()
        self.wait_for_text('.modal.in', 'ISO 8601')
        self.fill('value', '2100-01-01')
        self.submit()
        self.wait_for_text('#pcloud-attributes', '2100-01-01')
        self.assertEqual({('node-1', 'node-2')}, {
            tuple(sorted(each.hosts)) for each in
            self.client('admin').list_attributes()
            if each.name == 'next_reboot'})
        self.picture('dashboard-attributes')
        self.assert_quiet()
        self.assert_named()
        self.assert_fits_the_window()
        self.assert_narrow()
        self.open('/admin/pclouds/')
        self.wait_for_text('#pcloud-announced', 'node-2 (gold): reboot')
        self.assert_narrow()
        self.open('/admin/host_flavors/attributes')
        self.click('#pcloud-attributes .btn-default')
        select.Select(self.find('form select[name=hosts]')
                      ).deselect_by_value('node-2')
        self.submit()
        self.wait(lambda: ['node-1'] == [
            host for each in self.client('admin').list_attributes()
            if each.name == 'next_reboot' for host in each.hosts],
            'node-2 still has the value')
        self.open('/admin/host_flavors/attributes')
        self.click('#pcloud-attributes .btn-danger')
        self.wait_for_text('.modal.in', 'is removed from: node-1.')
        self.submit()
        self.wait_for_text('#main_content', 'No host has an attribute yet.')
        self.assert_quiet()

    def forget_attributes(self):
        """Remove what is left of a test."""
        client = self.client('admin')
        for name in {each.name for each in client.list_attributes()}:
            client.unset_attribute(name)

    def test_policies(self):
        self.addCleanup(self.forget_policy)
        self.log_in('admin')
        self.open('/admin/pclouds/policies')
        self.wait_for_text('.pcloud-inherited', 'none')
        self.click('#pcloud-set-policy')
        self.fill('constraints', 'ram=much')
        self.submit()
        self.wait_for_text('.modal.in .alert', 'ram')
        self.fill('constraints', 'ram=64M\ncpu=1')
        self.submit()
        self.wait_for_text('#pcloud-policy', 'ram=64M')
        self.wait_for_text('#main_content', 'always so')
        self.assertEqual({'ram=64M', 'cpu=1'}, set(
            self.client('admin').get_policy(
                'cloud', 'default').constraints.split()))
        self.picture('dashboard-policies')
        self.assert_quiet()
        self.assert_named()
        self.assert_fits_the_window()
        self.assert_narrow()
        self.click('#pcloud-delete-policy')
        self.submit()
        self.wait(lambda: 'ram=64M' not in self.text('#pcloud-policy'),
                  'The policy is still there')
        pcloud = self.new_pcloud('carol', 'farm of carol')
        self.set_default(pcloud.id, 'prefer')
        self.wait_for_text('#pcloud-scope-default',
                           'start in farm of carol while there is capacity')
        self.assertEqual(('prefer', 'cloud'), operator.attrgetter(
            'mode', 'source')(self.client('carol').get_default_pcloud()))
        self.assert_quiet()
        self.assert_named()
        self.set_default('', 'strict')
        self.wait_for_text('#pcloud-scope-default', 'outside of Pclouds. (')
        self.choose('scope', 'project')
        project = self.project_id('carol')
        self.find(f'#pcloud-scope-id option[value="{project}"]')
        self.choose('id', project)
        self.click('#pcloud-show-policy')
        self.find('#pcloud-set-policy')
        self.assertIn(project, self.driver.current_url)
        self.assert_quiet()

    def set_default(self, pcloud, mode):
        """Fill in the dialog with the default Pcloud."""
        self.click('#pcloud-set-default')
        self.choose('pcloud', pcloud)
        self.choose('mode', mode)
        self.submit()

    def forget_policy(self):
        """Remove what is left of a test."""
        try:
            self.client('admin').delete_policy('cloud', 'default')
        except exceptions.NotFound:
            pass

    def test_a_member_sees_no_panel(self):
        self.log_in('carol')
        self.open('/admin/host_flavors/')
        self.assertNotIn('Create Host Flavor', self.driver.page_source)
