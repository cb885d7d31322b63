# SPDX-License-Identifier: Apache-2.0

"""What holds on every page."""

from selenium.webdriver.common import by

CSS = by.By.CSS_SELECTOR

# Horizon answers 500 for each kind of resource without definitions, in its
# own call that has nothing to do with Pcloud.
_NOT_OURS = ('/api/glance/metadefs/namespaces/',
             'max_workers must be greater than zero', 'favicon.ico')
# The parts of a page that have a horizontal scroll bar.
_TOO_WIDE = """
return [document.documentElement,
        ...document.querySelectorAll('#main_content *')].filter(each =>
    each.scrollWidth > each.clientWidth && (
        each === document.documentElement ||
        ['auto', 'scroll'].includes(getComputedStyle(each).overflowX))
).map(each => each.tagName + '.' + each.className);
"""


class StandardsMixin:
    """Assertions about the page that a browser shows."""

    def assert_quiet(self):
        """Assert that the browser has seen no error, and no real host."""
        errors = [entry['message'] for entry in
                  self.driver.get_log('browser')
                  if entry['level'] == 'SEVERE' and
                  not any(each in entry['message'] for each in _NOT_OURS)]
        self.assertEqual([], errors, self.keep_failure() if errors else '')

    def assert_no_real_host(self):
        """Assert that the source of the page has no name of a real host."""
        self.assertNotIn('node-', self.driver.page_source)

    def assert_fits_the_window(self):
        """Assert that a page of 1024 points is not wider than the window."""
        self.driver.set_window_size(1024, 800)
        wide = self.driver.execute_script(_TOO_WIDE)
        self.assertEqual([], wide, self.keep_failure() if wide else '')
        self.driver.set_window_size(1400, 1000)

    def assert_narrow(self):
        """Assert that a telephone shows the page without moving it aside."""
        # No window of the browser is as narrow as a telephone.
        self.driver.execute_cdp_cmd(
            'Emulation.setDeviceMetricsOverride',
            {'width': 375, 'height': 812, 'deviceScaleFactor': 1,
             'mobile': False})
        wide = self.driver.execute_script(_TOO_WIDE)
        self.assertEqual([], wide, self.keep_failure() if wide else '')
        self.driver.execute_cdp_cmd(
            'Emulation.clearDeviceMetricsOverride', {})

    def assert_named(self):
        """Assert that everything one can use has a name for a reader."""
        nameless = [
            each.get_attribute('outerHTML') for each in
            self.driver.find_elements(CSS, ' , '.join(
                f'#main_content {kind}' for kind in (
                    'a', 'button', 'input:not([type=hidden])', 'select',
                    '[role=meter]', '[role=img]')))
            if each.is_displayed() and not each.accessible_name]
        self.assertEqual([], nameless)

    def assert_bars_have_texts(self):
        """Assert that each bar tells everybody what it shows."""
        for each in self.driver.find_elements(CSS, '.pcloud-bar'):
            if each.is_displayed():
                self.assertTrue(each.text)
        for each in self.driver.find_elements(CSS, '[role=meter]'):
            self.assertTrue(each.get_attribute('aria-valuetext'))

    def assert_well_made(self):
        """Assert what holds on every page of an owner."""
        self.assert_quiet()
        self.assert_no_real_host()
        self.assert_named()
        self.assert_bars_have_texts()
        self.assert_fits_the_window()

    def width(self, selector):
        """Return the width of a bar in the page, in percent."""
        used, track = (
            self.find(f'{selector} .pcloud-bar-{part}').rect['width']
            for part in ('used', 'track'))
        return round(100 * used / (track - 2))
