# SPDX-License-Identifier: Apache-2.0

"""What fits, what may fail, and what moves would help."""

from selenium.webdriver.support import select

from pcloud.tests.dashboard.browser import base

# What the tab Moves shows of a plan that is being made.
UNDER_WAY = """
$('#pcloud-plan-part').append(
    '<section id="pcloud-under-way" class="pcloud-pending">One</section>');
horizon.tabs.initTabLoad($('#pcloud__moves'));
"""


class PlanningTest(base.BrowserTest):

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
