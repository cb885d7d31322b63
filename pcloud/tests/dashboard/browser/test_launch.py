# SPDX-License-Identifier: Apache-2.0

"""The step Pcloud of Launch Instance."""

from pcloud.tests.dashboard.browser import base
from pcloud_sandbox import rest

# What is going to be sent.
_HINTS = """
return angular.element(document.body).injector().get(
    'launchInstanceModel').newInstanceSpec.scheduler_hints;
"""
# The hints that the step Scheduler Hints offers.
_OFFERED = """
const hints = angular.element(document.body).injector().get(
    'launchInstanceModel').metadataDefs.hints;
return hints && hints.flatMap(each => Object.keys(each.properties));
"""
# A Pcloud of 66 hosts, which no sandbox has, each with a server: the page asks
# where they are, and Pcloud's own rule is asked about them.
_MANY_HOSTS = """
const injector = angular.element(document.body).injector();
const http = injector.get('horizon.framework.util.http.service');
const get = http.get;
http.get = (url, ...more) => !url.endsWith('/places/') ? get(url, ...more) :
    injector.get('$q').resolve({data: {items: [...Array(66).keys()].map(
        number => ({
            name: `web-${number + 1}`, rack: 1 + number % 6, is_open: true,
            others: number % 3, servers: [{
                name: `s${number}`,
                hints: [number < 2 ? arguments[0] : `s${number}`]}]}))}});
"""


class LaunchTest(base.BrowserTest):

    def open_step(self, user, count=1, flavor='m1.large'):
        """Open the step, with as many servers of a flavor asked for."""
        self.log_in(user)
        self.open('/project/instances/')
        self.click('#instances__action_launch-ng')
        self.launch('new', flavor)
        self.step('Details')
        field = self.find('wizard #instance-count')
        field.clear()
        field.send_keys(str(count))
        self.step('Pcloud')

    def hints(self):
        """Return the hints that are going to be sent."""
        return self.driver.execute_script(_HINTS)

    def choose_pcloud(self, name):
        """Choose a Pcloud by its name."""
        self.click('#pcloud-change')
        self.find('#pcloud-filter').send_keys(name)
        self.click(f'//button[contains(@class, "pcloud-item")]'
                   f'[strong="{name}"]', base.XPATH)

    def names(self):
        """Return the names in the list, in its order."""
        return [each.text for each in self.driver.find_elements(
            base.CSS, '.pcloud-item strong')]

    def tag(self, user, server, tag):
        """Give a server a tag."""
        rest.Client(self.chosen, user).send(
            'PUT', f'{self.compute}/servers/{server}/tags/{tag}')

    def test_capacity_for_as_many_as_are_asked_for(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        fits = self.client('bob').explain(pcloud.id, '4').fits
        self.open_step('bob', fits + 1)
        self.wait_for_text('.pcloud-chosen', 'Outside of Pclouds')
        self.choose_pcloud('farm')
        self.wait_for_text('.pcloud-capacity',
                           f'Only {fits} of the {fits + 1} that you ask for')
        self.find('.pcloud-room .alert-warning')
        self.assertEqual({'pcloud': pcloud.id}, self.hints())
        self.step('Details')
        field = self.find('wizard #instance-count')
        field.clear()
        field.send_keys(str(fits))
        self.step('Pcloud')
        self.find('.pcloud-room .alert-success')
        self.assert_quiet()

    def test_the_list(self):
        client = self.client('bob')
        full = self.new_pcloud('bob', 'a full one', 'web-1')
        self.new_server('bob', 'one', full, '4')
        self.new_pcloud('bob', 'b empty')
        for name in ('farm-10', 'farm-2'):
            self.new_pcloud('bob', name, 'web-1')
        default = self.new_pcloud('bob', 'z default', 'web-1')
        client.set_default_pcloud(default.id, 'strict')
        self.addCleanup(client.set_default_pcloud, None, None)
        self.open_step('bob')

        self.wait_for_text('.pcloud-chosen', 'z default')
        self.wait_for_text('.pcloud-chosen', 'The default of your project.')
        self.wait_for_text('.pcloud-capacity', 'more of this flavor fit')
        self.assertEqual({}, self.hints())
        self.click('#pcloud-change')
        self.find('.pcloud-item')
        self.assertEqual(
            ['The default of your project: z default', 'Outside of Pclouds',
             'farm-2', 'farm-10', 'z default', 'a full one', 'b empty'],
            self.names())
        self.wait_for_text('.pcloud-item-full', 'full')
        self.picture('dashboard-launch-list', '.modal-content')
        self.find('#pcloud-filter').send_keys('FARM')
        self.wait(lambda: self.names() == ['farm-2', 'farm-10'],
                  'The list is not filtered')
        self.assert_quiet()

    def test_near_far_and_strict(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        client = self.client('bob')
        one = self.new_server('bob', 'one', pcloud)
        self.tag('bob', one, 'db')
        client.add_host(pcloud.id, 'web-2', 'gold')
        client.set_host_state(pcloud.id, 'web-2', 'enabled')
        self.open_step('bob', flavor='m1.tiny')
        self.choose_pcloud('farm')
        self.click('#pcloud-near-far')
        self.wait_for_text('#pcloud-where', 'to 2 of 2 hosts')
        self.find('#pcloud-named').send_keys('db')
        self.click('.pcloud-named .pcloud-far')
        self.wait_for_text('#pcloud-where', 'to 1 of 2 hosts: web-2.')
        self.find('.pcloud-place-else[value=web-1] .pcloud-dot-far')
        self.click('#pcloud-strict')
        self.find('.pcloud-place-no[value=web-1]')
        self.wait_for_text('.pcloud-capacity', 'Where you wish it strictly:')
        self.assertEqual(
            {'pcloud': pcloud.id, 'far': ['tag:db'], 'locality': 'strict'},
            self.hints())
        self.picture('dashboard-launch-near', '.modal-content')
        self.assert_quiet()
        self.click('wizard button.finish')
        two = self.wait(lambda: self._new_server(),
                        'There is no server')
        self.assertEqual('web-2', self.place_of(two))
        self.open(f'/project/instances/{two}/?tab=instance_details__pcloud')
        for text in ('web-2', 'far from tag db', 'strict',
                     'one: on another host'):
            self.wait_for_text('#instance_details__pcloud', text)
        self.picture('dashboard-instance')
        self.assert_well_made()

    def _new_server(self):
        for each in self.client('bob').servers.list_all():
            if (each.name, each.status) == ('new', 'ACTIVE'):
                return each.id
        return None

    def place_of(self, server):
        """Return the owner's name of the host of a server of bob's."""
        place, = self.client('bob').list_placed_servers([server])
        return place.host

    def test_a_host_of_ones_own(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1', 'web-2', 'web-3')
        self.open_step('bob', flavor='m1.tiny')
        self.choose_pcloud('farm')
        self.click('#pcloud-near-far')
        self.click('.pcloud-place[value=web-2]')
        self.wait_for_text('#pcloud-where', '1 of 3 hosts: web-2.')
        self.wait_for_text('.pcloud-capacity', 'On host web-2 alone:')
        self.assertEqual({'pcloud': pcloud.id, 'pcloud_host': 'web-2'},
                         self.hints())
        self.click('wizard button.finish')
        server = self.wait(lambda: self._new_server(),
                           'There is no server')
        self.assertEqual('web-2', self.place_of(server))
        self.open(f'/project/instances/{server}/'
                  '?tab=instance_details__pcloud')
        self.wait_for_text('#instance_details__pcloud',
                           'on host web-2 alone')

    def test_scheduler_hints_leave_ours_out(self):
        self.open_step('bob')
        offered = self.wait(
            lambda: self.driver.execute_script(_OFFERED),
            'No hints are offered')
        self.assertIn('placement_key', offered)
        for hint in ('pcloud', 'pcloud_host', 'near', 'far', 'locality'):
            self.assertNotIn(hint, offered)
        self.step('Scheduler Hints')
        self.click('//wizard//metadata-tree//*[contains(text(), '
                   '"Pcloud Scheduler Hints")]', base.XPATH)
        self.wait_for_text('wizard metadata-tree', 'Placement key')
        self.assertNotIn('Host of the Pcloud',
                         self.text('wizard metadata-tree'))

    def test_two_hundred_pclouds(self):
        client = self.client('bob')
        for number in range(200):
            pcloud = client.create_pcloud(f'farm-{number}')
            self.addCleanup(client.delete_pcloud, pcloud.id)
        self.open_step('bob')
        self.click('#pcloud-change')
        self.wait_for_text('#pcloud-list', '182 more: write a part')
        self.find('#pcloud-filter').send_keys('farm-19')
        self.wait(lambda: self.names() == [
            'farm-19', *(f'farm-{number}' for number in range(190, 200))],
            'The list is not filtered')
        self.assert_quiet()

    def test_many_hosts(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        server = self.new_server('bob', 'one', pcloud)
        self.tag('bob', server, 'db')
        self.open_step('bob', flavor='m1.tiny')
        self.choose_pcloud('farm')
        self.driver.execute_script(_MANY_HOSTS, 'tag:db')
        self.click('#pcloud-near-far')
        self.wait_for_text('#pcloud-where', 'to 66 of 66 hosts')
        self.assertEqual(
            [f'Rack {number}' for number in range(1, 7)],
            [each.text for each in self.driver.find_elements(
                base.CSS, '.pcloud-rack-title')])
        self.find('#pcloud-named').send_keys('tag db')
        self.click('.pcloud-named .pcloud-far')
        # Not in racks 1 and 2, where the servers with the tag are.
        self.wait_for_text('#pcloud-where', 'to 44 of 66 hosts')
        self.assertEqual(22, len(self.driver.find_elements(
            base.CSS, 'button.pcloud-place-else')))
        self.picture('dashboard-launch-racks', '.modal-content')
        self.click('.pcloud-named .pcloud-near')
        self.wait_for_text('#pcloud-where', 'to 2 of 66 hosts: web-1, web-2.')
        self.click('#pcloud-strict')
        self.wait_for_text('#pcloud-where', 'No host is left')
        self.assert_quiet()

    def test_german(self):
        self.new_pcloud('bob', 'farm', 'web-1')
        self.log_in('bob')
        self.open('/project/pclouds/')
        self.wait(lambda: self._gettext() == 'Outside of Pclouds',
                  'The scripts are not in English')
        self.driver.add_cookie({'name': 'horizon_language', 'value': 'de'})
        self.open('/project/pclouds/')
        self.wait(lambda: self._gettext() == 'Außerhalb von Pclouds',
                  'The scripts are not in German')

    def _gettext(self):
        return self.driver.execute_script(
            "return gettext('Outside of Pclouds');")
