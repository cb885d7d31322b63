# SPDX-License-Identifier: Apache-2.0

"""Pages that tell what happens, and Pclouds of many hosts."""

from selenium.webdriver.common import by

from pcloud.tests.dashboard.browser import base

STATE = '#pcloud-host-{} .pcloud-state'


class LivePagesTest(base.BrowserTest):

    def test_the_page_looks_again_until_nothing_is_pending(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1', 'web-2')
        client = self.client('bob')
        self.log_in('bob')
        self.open_pcloud(pcloud)
        self.find('#pcloud-host-web-1')
        self.assertEqual([], self.driver.find_elements(
            base.CSS, '.pcloud-followed'))
        server = self.new_server('bob', 'one', pcloud)
        host, = (each.name for each in client.list_hosts(pcloud.id)
                 if each.instances)
        client.drain_host(pcloud.id, host, move='none', release=True)
        self.open_pcloud(pcloud)
        self.find('.pcloud-followed')
        # The page is not loaded anew from here on.
        table = self.find('#pcloud-hosts-part')
        self.admin.send('DELETE', f'{self.compute}/servers/{server}')
        self.wait_for_text('#pcloud-hosts-news',
                           f'{host} left the Pcloud: drained, released.')
        self.wait(lambda: not self.driver.find_elements(
            base.CSS, '.pcloud-followed, .pcloud-pending'),
            'The page goes on for ever')
        self.assertTrue(table.is_displayed())
        self.assert_well_made()

    def test_servers_that_could_not_be_started(self):
        pcloud = self.new_pcloud('bob', 'farm')
        self.start('bob', 'none', pcloud)
        self.log_in('bob')
        self.open_pcloud(pcloud)
        self.wait_for_text('#pcloud-not-started, #pcloud-starting', 'none')
        self.wait_for_text('#pcloud-not-started', 'could not be started')
        self.assert_well_made()

    def start(self, user, name, pcloud):
        """Start a server, and have it deleted at the end."""
        client = base.rest.Client(self.chosen, user)
        image = client.get(self.chosen.url('glance') + '/v2/images')[
            'images'][0]['id']
        server = client.send('POST', f'{self.compute}/servers', {
            'server': {'name': name, 'flavorRef': '1', 'imageRef': image,
                       'networks': 'none'},
            'OS-SCH-HNT:scheduler_hints': {'pcloud': pcloud.id}})['server']
        self.addCleanup(client.send, 'DELETE',
                        f'{self.compute}/servers/{server["id"]}')


class BulkTest(base.BrowserTest):

    def test_several_hosts_at_once(self):
        names = ('web-1', 'web-2', 'web-3')
        pcloud = self.new_pcloud('bob', 'farm', *names)
        client = self.client('bob')
        self.log_in('bob')
        self.open_pcloud(pcloud)
        button = self.find('#pcloud-bulk [value=disable]')
        self.assertFalse(button.is_enabled())
        for name in names[:2]:
            self.click(f'#pcloud-choose-{name}')
        self.wait_for_text('.pcloud-number-chosen', '2 hosts are chosen')
        self.picture('dashboard-bulk')
        self.click('#pcloud-bulk [value=disable]')
        self.wait_for_text('.messages', '2 hosts are disabled.')
        self.assertEqual(['disabled', 'disabled', 'enabled'], [
            host.state for host in sorted(
                client.list_hosts(pcloud.id), key=lambda host: host.name)])
        self.click('#pcloud-all')
        self.wait_for_text('.pcloud-number-chosen', '3 hosts are chosen')
        self.click('#pcloud-bulk [value=drain]')
        self.choose('move', 'none')
        self.click('input[type=submit]')
        self.wait_for_text('.pcloud-forecast', 'web-2: The host is empty.')
        self.click('form .cancel')
        self.click('#pcloud-all')
        self.click('#pcloud-bulk [value=remove]')
        self.wait_for_text('.pcloud-blockers', 'web-3: stays. The host is')
        self.click('input[type=submit]')
        self.wait_for_text('.messages', '2 hosts have left the Pcloud.')
        self.find('#pcloud-host-web-3')
        self.assert_quiet()
        self.assert_narrow()


class ScaleTest(base.BrowserTest):
    """A Pcloud of sixty hosts, in a sandbox that has as many."""

    pools = {**base.BrowserTest.pools, 'bronze': (1, tuple(
        f'node-{number}' for number in range(7, 67)))}

    def test_sixty_hosts(self):
        admin, bob = self.client('admin'), self.project_id('bob')
        admin.update_quota(bob, 100)
        self.addCleanup(admin.delete_quota, bob)
        pcloud = self.new_pcloud('bob', 'farm')
        self.log_in('bob')
        self.open_pcloud(pcloud)
        self.click('#pcloud-first-host')
        self.click('form.pcloud-add-hosts input[value=bronze]')
        self.fill('count', '50')
        self.fill('name', 'web-{n}')
        self.submit()
        self.wait_for_text('.pcloud-progress', 'of 50 are added')
        self.find('#pcloud-host-web-50')
        self.client('bob').add_hosts(pcloud.id, 'web', 10, 51, 'bronze')
        for language, group, fits in (
                ('en', ' hosts', 'more fit'), ('de', ' Hosts', 'passen')):
            self.driver.add_cookie({'name': 'horizon_language',
                                    'value': language})
            self.open_pcloud(pcloud)
            self.wait_for_text('.pcloud-group', group)
            self.assert_quiet()
            self.assert_narrow()
            self.open_pcloud(pcloud, 'fit')
            self.wait_for_text('.pcloud-picture-text', fits)
            self.assertLess(1, len(self.driver.find_elements(
                base.CSS, '.pcloud-group-title')))
            self.assert_quiet()
            self.assert_narrow()
            self.picture(f'dashboard-many-{language}')
        self.driver.delete_cookie('horizon_language')
        self.open_pcloud(pcloud)
        self.find('#pcloud-host-text').send_keys('web-6')
        self.click('#pcloud-filter button')
        self.wait_for_text('#pcloud-filter', '2 of 60 hosts')
        self.assertEqual(['web-6', 'web-60'], [
            each.get_attribute('value') for each in self.driver.find_elements(
                by.By.CSS_SELECTOR, '.pcloud-choose-host')])
        self.picture('dashboard-filter')
