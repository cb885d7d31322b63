# SPDX-License-Identifier: Apache-2.0

"""Every page, looked at by axe-core at the widths of a desk and a telephone.

axe-core is no part of Pcloud: the variable names its file ``axe.min.js``, as
npm installs it.
"""

import os
import pathlib
import unittest

from pcloud.tests.dashboard.browser import base

_FILE = 'PCLOUD_TEST_AXE'
_INSTALLED = pathlib.Path('node_modules/axe-core/axe.min.js')
# A folder for pictures and faults of all pages, for whoever looks at them.
_PICTURES = 'PCLOUD_TEST_PAGES'
WIDTHS = (1280, 375)
# Faults of these kinds keep somebody from using a page.
_GRAVE = ('serious', 'critical')
# What is Pcloud's on the page, and an open dialog.
_OURS = '#content_body, .modal.in'
# The colours of links, buttons, labels and messages are those of the theme
# that an operator chooses.
_RUN = """
const done = arguments[arguments.length - 1];
const themed = 'a, .btn, .btn *, .label, .alert, .alert *, .help-block';
const isOurs = (fault, node) => {
    const part = document.querySelector(node.target[0]);
    return fault.id !== 'color-contrast' || !part ||
        part.closest('[class*=pcloud-]') && !part.matches(themed);
};
const parts = [...document.querySelectorAll(arguments[0])].filter(
    each => each.offsetParent || getComputedStyle(each).position === 'fixed');
axe.run({include: parts}, {resultTypes: ['violations']}).then(
    found => done(found.violations.map(fault => ({
        ...fault, nodes: fault.nodes.filter(node => isOurs(fault, node))}))),
    error => done(String(error)));
"""
# How high the page and an open dialog are.
_HEIGHT = """
return Math.max(900, ...[
    document.documentElement, ...document.querySelectorAll('.modal.in')
].map(each => each.scrollHeight));
"""
TABS = ('hosts', 'fit', 'failures', 'moves', 'tenants', 'settings')


def ours(faults):
    """Return the faults of our parts of a page of Horizon's own."""
    return [each for each in faults if 'pcloud' in each]


def axe_path():
    """Return the file of axe-core, None where there is none."""
    path = pathlib.Path(os.environ.get(_FILE) or _INSTALLED)
    return path if path.is_file() else None


@unittest.skipUnless(
    axe_path() or os.environ.get('CI'),
    f'axe-core is not there: npm install --no-save axe-core, or {_FILE}')
class AccessibilityTest(base.BrowserTest):

    maxDiff = None

    def setUp(self):
        super().setUp()
        self.assertIsNotNone(axe_path(), 'axe-core is not there')
        self.axe = axe_path().read_text()

    def faults(self, name):
        """Return the grave faults of the page at all widths, as texts."""
        found = []
        for width in WIDTHS:
            self.show_at(width, 900)
            self.driver.execute_script(self.axe)
            # The answer of axe tells what is wrong, or that it could not run.
            violations = self.driver.execute_async_script(_RUN, _OURS)
            self.assertIsInstance(violations, list, violations)
            grave = [f'{name} at {width}: {fault["id"]}: {node["html"][:200]}'
                     f' {node.get("failureSummary", "")[:300]}'
                     for fault in violations if fault['impact'] in _GRAVE
                     for node in fault['nodes'][:3]]
            self.keep_page(name.replace('/', '-'), width, grave)
            found += grave
        self.driver.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
        return found

    def show_at(self, width, height):
        """Show the page as wide and as high as a window would be."""
        self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': height, 'deviceScaleFactor': 1,
            'mobile': False})

    def keep_page(self, name, width, grave):
        """Write a picture and the faults, where a folder for them is named."""
        if os.environ.get(_PICTURES):
            folder = pathlib.Path(os.environ[_PICTURES])
            folder.mkdir(parents=True, exist_ok=True)
            self.show_at(width, self.driver.execute_script(_HEIGHT))
            self.driver.save_screenshot(str(folder / f'{name}-{width}.png'))
            (folder / f'{name}-{width}.txt').write_text('\n'.join(grave))

    def faults_of(self, pages):
        """Return the grave faults of pages, each an address by its name."""
        found = []
        for name, address in pages.items():
            self.open(address)
            self.find('#main_content .tab-pane.active > *, #main_content h1, '
                      '#main_content form')
            self.settle()
            found += self.faults(name)
        return found

    def test_an_owner(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1', 'web-2')
        client = self.client('bob')
        client.add_tenant(pcloud.id, self.project_id('carol'))
        client.add_host(pcloud.id, 'web-3', 'gold')
        server = self.new_server('bob', 'one', pcloud)
        self.log_in('bob')
        page = f'/project/pclouds/{pcloud.id}/'
        self.assertEqual([], self.faults_of({
            'pclouds': '/project/pclouds/',
            **{tab: f'{page}?tab=pcloud__{tab}' for tab in TABS},
            'fit-answer': f'{page}?tab=pcloud__fit&flavor=4',
            'usage': '/project/pclouds/usage',
            **{name: page + name for name in (
                'delete', 'add-hosts', 'edit', 'requirements', 'default',
                'tenants/add', 'hosts/web-1/drain', 'hosts/web-3/remove')},
            'create': '/project/pclouds/create'}))
        self.assertEqual([], ours(self.faults_of({
            'instances': '/project/instances/',
            'instance': f'/project/instances/{server}/'
                        '?tab=instance_details__pcloud'})))

    def test_the_dialog_for_a_new_server(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1', 'web-2')
        self.new_server('bob', 'one', pcloud)
        self.log_in('bob')
        self.open_pcloud(pcloud)
        self.click('#pcloud-launch')
        self.launch('new', 'm1.tiny')
        self.step('Pcloud')
        self.wait_for_text('.pcloud-capacity', 'more of this flavor fit')
        found = ours(self.faults('launch'))
        self.click('#pcloud-change')
        self.find('.pcloud-item')
        found += ours(self.faults('launch-list'))
        self.click('#pcloud-change')
        self.click('#pcloud-near-far')
        self.click('.pcloud-named .pcloud-far')
        self.find('button.pcloud-place-else')
        found += ours(self.faults('launch-near'))
        self.assertEqual([], found)

    def test_an_administrator(self):
        pcloud = self.new_pcloud('bob', 'farm', 'web-1')
        self.new_server('bob', 'one', pcloud)
        self.log_in('admin')
        self.assertEqual([], self.faults_of({
            'host-flavors': '/admin/host_flavors/',
            **{name: f'/admin/host_flavors/{name}' for name in (
                'create', 'map', 'attributes', 'attributes/set', 'gold/',
                'gold/edit', 'gold/add-host', 'gold/delete')},
            'all-pclouds': '/admin/pclouds/',
            **{name: f'/admin/pclouds/{name}' for name in (
                'usage', 'waiting', 'quotas', 'policies', 'policies/set',
                'policies/set-default')}}))
        self.assertEqual([], ours(self.faults_of({
            'aggregates': '/admin/aggregates/'})))
