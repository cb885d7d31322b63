# SPDX-License-Identifier: Apache-2.0

"""A real browser, on a real Horizon with the panels of Pcloud."""

import atexit
import functools
import os
import pathlib
import shutil
import tempfile
import time

from keystoneauth1.identity import v3
from keystoneauth1 import session as ksa_session
from PIL import Image
from selenium.common import exceptions
from selenium import webdriver
from selenium.webdriver.chrome import service
from selenium.webdriver.common import action_chains
from selenium.webdriver.common import by
from selenium.webdriver.common import keys as by_keys
from selenium.webdriver.support import select
from selenium.webdriver.support import wait

from pcloud.client import v1
from pcloud.tests.dashboard.browser import standards
from pcloud.tests.sandbox import base
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import rest

CSS = standards.CSS
XPATH = by.By.XPATH
# The cookies of a session, and the sessions of earlier tests: address of
# Horizon and user -> cookies. What a page keeps beside is forgotten.
_SESSION = ('sessionid', 'csrftoken', 'login_region', 'login_domain')
_sessions = {}
BROWSERS = ('chromium', 'chromium-browser', 'google-chrome')
# A page on a busy machine takes seconds; a page without an end is stuck.
_PATIENCE = 120
# A running sandbox to use, for whoever writes tests; else one is started.
_RUNNING = 'PCLOUD_TEST_SANDBOX'
# Where pictures of failures are kept.
_FAILURES = pathlib.Path(os.environ.get(
    'PCLOUD_TEST_SCREENSHOTS', pathlib.Path(
        tempfile.gettempdir(), 'pcloud-dashboard')))
# Set to write the pictures of the guide.
_GENERATE = 'GENERATE_PICTURES'
_GUIDE = pathlib.Path(__file__).parents[4] / 'doc/source/user/pictures'

# Whether Horizon's dialog for a new server has all it asks for. A flavor that
# is taken before the limits are there is over them, and Horizon does not judge
# it anew: the dialog cannot be sent until the flavor is taken once more.
_HAS_LOADED = """
const model = angular.element(document.body).injector().get(
    'launchInstanceModel');
return model.initialized && !model.initializing;
"""
# Takes the messages away that lie above the page.
_TELL_NO_MORE = """
const injector = angular.element(document.body).injector();
injector.get('horizon.framework.widgets.toast.service').clearAll();
injector.get('$rootScope').$applyAsync();
$('.messages > .alert').remove();
"""
# Whether the page waits for no answer of Horizon, neither jQuery nor Angular.
_IS_AT_REST = """
const injector = window.angular && angular.element(document.body).injector();
return !(window.$ && $.active) &&
    !(injector && injector.get('$http').pendingRequests.length);
"""
_SILENT = 'The compute service does not answer.'
# What Chromium says of an element when another page comes while Chromium reads
# the element; before and after, the element is called stale.
_ON_ITS_WAY = 'does not belong to the document'
# More than Tab stops at on any page.
_MOST_STOPS = 300


def browser_path():
    """Return the path of the browser, None where there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@functools.cache
def _sandbox():
    """Return the folder of a sandbox for all tests of the process.

    A sandbox with Horizon takes minutes to start on a busy machine.
    """
    running = os.environ.get(_RUNNING)
    if running:
        return pathlib.Path(running)
    parent = tempfile.mkdtemp(prefix='pcloud-dashboard-test-')
    atexit.register(shutil.rmtree, parent)
    folder = pathlib.Path(parent, 'sandbox')
    atexit.register(base.call, folder, 'down')
    status, _shown, told = base.call(
        folder, 'up', '--dashboard', '--hosts', '66')
    if status:
        raise AssertionError(told)
    return folder


@functools.cache
def _browser():
    """Return a browser for all tests of the process."""
    options = webdriver.ChromeOptions()
    for option in ('--headless=new', '--no-sandbox', '--disable-gpu',
                   '--disable-dev-shm-usage', '--window-size=1400,1000',
                   # A page that is kept for the way back goes on fetching.
                   '--disable-features=BackForwardCache'):
        options.add_argument(option)
    options.binary_location = browser_path()
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    driver = webdriver.Chrome(
        options=options,
        service=service.Service(shutil.which('chromedriver')))
    atexit.register(driver.quit)
    return driver


def _fresh_browser():
    """Return the browser as it is when it has just been started.

    A browser that has ended is started anew.
    """
    try:
        driver = _browser()
        driver.get('about:blank')
        driver.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
        driver.execute_cdp_cmd('Network.clearBrowserCookies', {})
        driver.set_window_size(1400, 1000)
        driver.get_log('browser')
    except exceptions.WebDriverException:
        _browser.cache_clear()
        driver = _browser()
    return driver


def _while_it_is_there(look):
    """Return what a look finds; None when the elements have gone meanwhile."""
    try:
        return look()
    except exceptions.StaleElementReferenceException:
        return None
    except exceptions.WebDriverException as error:
        if _ON_ITS_WAY not in str(error.msg):
            raise
        return None


class BrowserTest(standards.StandardsMixin, base.SandboxTest):
    """A test that looks at pages.

    :cvar pools: host flavor -> units and compute hosts
    """

    pools = {'gold': (2, ('node-1', 'node-2', 'node-3', 'node-4')),
             'silver': (1, ('node-5',))}

    @classmethod
    def setUpClass(cls):
        if browser_path() is None:
            raise AssertionError(
                'These tests need a browser: apt-get install '
                '--no-install-recommends chromium chromium-driver '
                'fonts-dejavu-core')
        super().setUpClass()
        cls.folder = _sandbox()
        cls.chosen = settings.read(layout.Layout(cls.folder)).settings
        cls.url = cls.chosen.url('horizon')
        cls.admin = rest.Client(cls.chosen, 'admin')
        cls.compute = cls.chosen.url('nova') + '/v2.1'
        cls._make_pools()

    @classmethod
    def _make_pools(cls):
        there = {flavor['id'] for flavor in cls.admin.get(
            cls.compute + '/os-host-flavors')['host_flavors']}
        services = {each['host']: each['id'] for each in cls.admin.get(
            cls.compute + '/os-services?binary=nova-compute')['services']}
        for flavor, (units, hosts) in cls.pools.items():
            if flavor in there:
                continue
            cls.admin.send('POST', cls.compute + '/os-host-flavors', {
                'host_flavor': {'id': flavor, 'units': units,
                                'description': f'{flavor} hosts'}})
            for host in hosts:
                cls.admin.send(
                    'PUT', f'{cls.compute}/os-services/{services[host]}',
                    {'status': 'disabled'})
                cls.admin.send(
                    'POST', f'{cls.compute}/os-host-flavors/{flavor}/hosts',
                    {'host': {'host': host}})

    def setUp(self):
        super().setUp()
        self.driver = _fresh_browser()
        # The address that was opened last, and the one where it led.
        self._opened = ('', '')

    def client(self, user):
        """Return a client of the Pcloud API, for a user of the sandbox."""
        return v1.Client(ksa_session.Session(v3.Password(
            self.chosen.auth_url, username=user,
            password=self.chosen.password, project_name=user,
            user_domain_id=settings.DOMAIN,
            project_domain_id=settings.DOMAIN)))

    def project_id(self, name):
        """Return the id of a project of the sandbox."""
        return self.admin.get(
            f'{self.chosen.auth_url}/projects?name={name}')[
                'projects'][0]['id']

    # The pages

    def log_in(self, user):
        """Log a user of the sandbox in, and leave the login page.

        The session of an earlier test goes on, as that of a user who has
        closed a page and opens another.
        """
        # Each answer of Horizon sets the cookie of its session anew, so a call
        # of the page before may bring the session of its user back, even while
        # another user logs in.
        self.wait(lambda: self._logged_in_again(user) or
                  self._logged_in(user), f'{user} is not logged in')

    def _leave(self):
        """Leave the page, and the session, when no answer is to come.

        An answer that comes later would bring the session of its user back,
        also when another user has logged in and opens a page.
        """
        self.wait(lambda: self.driver.execute_script(_IS_AT_REST),
                  'The page goes on fetching')
        self.driver.get('about:blank')
        self.driver.execute_cdp_cmd('Network.clearBrowserCookies', {})

    def _logged_in(self, user):
        self._leave()
        self.driver.get(f'{self.url}/auth/login/')
        self.find('#id_username').send_keys(user)
        self.find('#id_password').send_keys(self.chosen.password)
        self.find('#loginBtn').click()
        self.wait(lambda: '/auth/login' not in self.driver.current_url,
                  f'{user} is not logged in')
        if self.text('.user-name') != user:
            return False
        _sessions[self.url, user] = self._cookies(*_SESSION)
        return True

    def _cookies(self, *names):
        return [each for each in self.driver.get_cookies()
                if each['name'] in names]

    def _logged_in_again(self, user):
        """Return whether the session of an earlier test is still good."""
        kept = _sessions.pop((self.url, user), None)
        if not kept:
            return False
        self._leave()
        for each in kept:
            self.driver.execute_cdp_cmd('Network.setCookie', {
                'name': each['name'], 'value': each['value'],
                'url': self.url})
        # The page with the user's own settings asks nothing of the cloud.
        self.driver.get(f'{self.url}/settings/')
        if '/auth/login' in self.driver.current_url or (
                self.text('.user-name') != user):
            return False
        _sessions[self.url, user] = kept
        return True

    def open(self, path):
        """Open a page of Horizon."""
        self.driver.get(self.url + path)
        self._opened = (self.url + path, self.driver.current_url)

    def open_pcloud(self, pcloud, tab='hosts'):
        """Open a tab of a Pcloud's page."""
        self.open(f'/project/pclouds/{pcloud.id}/?tab=pcloud__{tab}')

    def find(self, selector, way=CSS):
        """Return the first visible element, once there is one."""
        return self.wait(
            lambda: next((each for each in self.driver.find_elements(
                way, selector) if each.is_displayed()), None),
            f'There is no {selector}')

    def click(self, selector, way=CSS):
        """Click an element, once it can be clicked."""
        self.wait(lambda: self._clicked(selector, way),
                  f'{selector} cannot be clicked')

    def _clicked(self, selector, way):
        for each in self.driver.find_elements(way, selector):
            try:
                if each.is_displayed() and each.is_enabled():
                    each.click()
                    return True
            except (exceptions.ElementClickInterceptedException,
                    exceptions.ElementNotInteractableException,
                    exceptions.StaleElementReferenceException):
                continue
        return False

    def fill(self, name, text):
        """Write a text into a field of the form that is open."""
        field = self.find(f'form [name={name}]')
        field.clear()
        field.send_keys(text)

    def fill_moment(self, name, moment):
        """Write a moment, whose keys differ with the language."""
        self.driver.execute_script(
            'arguments[0].value = arguments[1]',
            self.find(f'form [name={name}]'), moment)

    def choose(self, name, value):
        """Choose the value of a field of the form that is open."""
        select.Select(self.find(f'form select[name={name}]')
                      ).select_by_value(value)

    def press(self, *keys):
        """Press keys, wherever the focus is."""
        action_chains.ActionChains(self.driver).send_keys(*keys).perform()

    def tab_to(self, selector):
        """Press Tab until an element has the focus.

        What is drawn by a label is not displayed itself.
        """
        self.wait(lambda: self.driver.find_elements(CSS, selector),
                  f'There is no {selector}')
        for _ in range(_MOST_STOPS):
            if self.driver.switch_to.active_element in (
                    self.driver.find_elements(CSS, selector)):
                return
            self.press(by_keys.Keys.TAB)
        self.fail(f'Tab does not reach {selector}. '
                  f'See {self.keep_failure()}')

    def submit(self):
        """Send the form in the dialog that is open."""
        self.click('.modal.in input[type=submit]')

    def text(self, selector):
        """Return the text of the first visible element."""
        return self.find(selector).text

    def wait_for_text(self, selector, text):
        """Wait until some element has a text."""
        self.wait(lambda: any(text in each.text for each in
                              self.driver.find_elements(CSS, selector)),
                  f'{selector} does not say {text!r}')

    def wait(self, condition, otherwise):
        """Wait until a condition is true, and return its value.

        A picture of the page is kept when it does not come true.
        """
        try:
            return wait.WebDriverWait(self.driver, _PATIENCE, 0.2).until(
                lambda driver: _while_it_is_there(condition) or
                _while_it_is_there(self._ask_again))
        except exceptions.TimeoutException:
            self.fail(f'{otherwise}. See {self.keep_failure()}')

    def _ask_again(self):
        """Load a page anew that says that the API had no answer in time.

        A page waits seconds for an answer, and a busy machine needs more. The
        page of a Pcloud that is not told leads to the list.
        """
        if any(_SILENT in each.text for each in
               self.driver.find_elements(CSS, '#main_content .alert')):
            asked, shown = self._opened
            here = self.driver.current_url
            self.driver.get(asked if here == shown else here)

    def keep_failure(self):
        """Keep a picture and the source of the page, and return the path."""
        _FAILURES.mkdir(parents=True, exist_ok=True)
        path = _FAILURES / f'{self.id().rpartition(".")[2]}-{time.time():.0f}'
        self.driver.save_screenshot(f'{path}.png')
        pathlib.Path(f'{path}.html').write_text(self.driver.page_source)
        return f'{path}.png'

    def settle(self):
        """Wait until nothing is fetched any more."""
        self.wait(lambda: self.driver.execute_script(
            'return !$.active && !$("[aria-busy=true]").length'),
            'The page is not ready')

    def picture(self, name, selector='#main_content, .modal-content'):
        """Write a picture for the guide, where pictures are asked for.

        :param selector: what the picture shows
        """
        if os.environ.get(_GENERATE):
            self.settle()
            self.driver.execute_script(_TELL_NO_MORE)
            self.wait(lambda: not self.driver.find_elements(
                CSS, '.messages .alert'), 'A message stays')
            _GUIDE.mkdir(exist_ok=True)
            path = _GUIDE / f'{name}.png'
            self.find(selector).screenshot(str(path))
            # A page has few colours, and a repository keeps each picture.
            with Image.open(path) as image:
                image.convert('RGB').quantize(64).save(path, optimize=True)

    # Pclouds

    def new_pcloud(self, user, name, *hosts, flavor='gold'):
        """Create a Pcloud with enabled hosts, which is gone at the end."""
        client = self.client(user)
        pcloud = client.create_pcloud(name)
        self.addCleanup(self.remove_pcloud, user, pcloud.id)
        for host in hosts:
            client.add_host(pcloud.id, host, flavor)
            client.set_host_state(pcloud.id, host, 'enabled')
        return pcloud

    def remove_pcloud(self, user, pcloud_id):
        """Remove a Pcloud, with hosts and servers."""
        client = self.client(user)
        for host in client.list_hosts(pcloud_id):
            for server in host.instances or ():
                self.admin.send(
                    'DELETE', f'{self.compute}/servers/{server}')
            deadline = time.monotonic() + _PATIENCE
            # A call for each of many hosts takes its time.
            while host.instances != ():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.2)
                host = client.get_host(pcloud_id, host.name)
            client.set_host_state(pcloud_id, host.name, 'disabled')
            client.remove_host(pcloud_id, host.name)
        client.delete_pcloud(pcloud_id)

    def launch(self, name, flavor):
        """Fill in Horizon's dialog for a new server, and send the dialog."""
        self.wait(lambda: self.driver.find_elements(CSS, 'wizard .nav-item'),
                  'The dialog is not there')
        self.wait(lambda: self.driver.execute_script(_HAS_LOADED),
                  'The dialog does not load')
        self.find('wizard input[name=name]').send_keys(name)
        self.step('Source')
        self.take('cirros')
        self.step('Flavor')
        self.take(flavor)

    def step(self, title):
        """Open a step of the dialog."""
        self.click(f'//wizard//li//a[normalize-space(span)="{title}"]', XPATH)

    def take(self, name):
        """Take an item of the table in the dialog's step."""
        self.click(f'//wizard//tr[td[normalize-space()="{name}"]]//button',
                   XPATH)

    def new_server(self, user, name, pcloud, flavor='1'):
        """Start a server in a Pcloud, and wait until it is active."""
        client = rest.Client(self.chosen, user)
        image = client.get(self.chosen.url('glance') + '/v2/images')[
            'images'][0]['id']
        server = client.send('POST', f'{self.compute}/servers', {
            'server': {'name': name, 'flavorRef': flavor, 'imageRef': image,
                       'networks': 'auto'},
            'OS-SCH-HNT:scheduler_hints': {'pcloud': pcloud.id}})['server']
        deadline = time.monotonic() + _PATIENCE
        while True:
            status = client.get(f'{self.compute}/servers/{server["id"]}')[
                'server']['status']
            if status == 'ACTIVE':
                return server['id']
            self.assertEqual('BUILD', status)
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)
