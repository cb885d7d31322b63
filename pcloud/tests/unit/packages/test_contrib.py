# SPDX-License-Identifier: Apache-2.0

"""The files for Kolla-Ansible and OpenStack-Ansible, as their readers read."""

import configparser
import pathlib
import re

import ddt
import fixtures
import jinja2
from nova.conf import compute
from nova.conf import scheduler
from nova.virt import driver
import os_resource_classes as orc
from oslo_config import cfg
from oslo_config import fixture as config_fixture
import testtools
import yaml

import nova.conf
import pcloud
from pcloud import conf
from pcloud_sandbox.configuration import paste

CONTRIB = pathlib.Path(pcloud.__file__).parents[1] / 'contrib'
OSA = CONTRIB / 'openstack-ansible'
KOLLA = CONTRIB / 'kolla-ansible'

AVAILABLE = ['nova.scheduler.filters.all_filters',
             'pcloud.scheduler.filters.all_filters']
WEIGHERS = ['nova.scheduler.weights.all_weighers',
            'pcloud.scheduler.weights.all_weighers']


def _sections(text):
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


def _options(path):
    """Return the options of a file, as Nova and Pcloud read the options."""
    read = cfg.ConfigOpts()
    for options in (compute, scheduler, conf):
        options.register_opts(read)
    read(['--config-file', str(path)])
    return read


def _unknown(path, read):
    """Return what a file sets that is no option of Nova or Pcloud."""
    return [(group, name) for group, values in _sections(
        path.read_text()).items() for name in values
        if name not in read[group]]


@ddt.ddt
class ContribTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.paste = paste.installed(
            'nova', 'etc/nova/api-paste.ini').read_text()
        self.expected = _sections(paste.with_pcloud(self.paste))

    def test_overlay_of_kolla(self):
        path = KOLLA / 'config/nova.conf'
        read = _options(path)
        self.assertEqual([], _unknown(path, read))
        chosen = read.filter_scheduler
        self.assertEqual((AVAILABLE, WEIGHERS), (
            chosen.available_filters, chosen.weight_classes))
        # Nova's own filters stay enabled.
        self.assertEqual(
            [*(each.strip() for each in
               nova.conf.CONF.filter_scheduler.enabled_filters),
             'PcloudFilter'], chosen.enabled_filters)

    def test_playbook_of_kolla(self):
        """The expression of the playbook, as Ansible applies expressions."""
        play, = yaml.safe_load((KOLLA / 'pcloud.yml').read_text())
        task, = (each for each in play['tasks']
                 if 'pipeline' in each.get('vars', {}))
        content = task['ansible.builtin.copy']['content']
        self.assertIn(r"regex_replace(pipeline, '\1 pcloud \2'", content)
        rest = content[content.index('}}') + 2:]
        written = re.sub(task['vars']['pipeline'], r'\1 pcloud \2',
                         self.paste, flags=re.MULTILINE) + rest
        self.assertEqual(self.expected, _sections(written))

    @ddt.data('docker', 'podman')
    def test_worker_of_kolla(self, engine):
        unit = jinja2.Environment(
            trim_blocks=True, undefined=jinja2.StrictUndefined).from_string(
            (KOLLA / 'templates/pcloud-worker.service.j2').read_text()
        ).render(engine=engine, image='registry/nova-api:1')
        service = _sections(unit.replace('\\\n', ''))['Service']
        self.assertTrue(service['ExecStart'].startswith(
            f'/usr/bin/{engine} run --rm --name pcloud_worker '))
        self.assertIn(' registry/nova-api:1 bash -c "', service['ExecStart'])
        self.assertEqual(engine == 'docker', 'docker' in unit)

    def test_globals_of_kolla(self):
        """What is a comment at first is right when the comment is gone."""
        text = (KOLLA / 'globals.d/pcloud.yml').read_text()
        first = yaml.safe_load(text)
        self.assertEqual(
            {'pcloud_images', 'pcloud_tag', 'nova_api_image', 'nova_api_tag',
             'nova_scheduler_image', 'nova_scheduler_tag'}, set(first))
        second = yaml.safe_load(re.sub(
            r'(?m)^# (?=nova_|  - )', '', text))
        mount = ['/etc/kolla/pcloud-api-paste.ini:/etc/nova/api-paste.ini:ro']
        self.assertEqual(
            {**first, 'nova_api_extra_volumes': mount,
             'nova_scheduler_extra_volumes': mount}, second)

    def test_overrides_of_openstack_ansible(self):
        given = yaml.safe_load((OSA / 'user_variables_pcloud.yml').read_text())
        changed = _sections(self.paste)
        for section, values in given['nova_api_paste_ini_overrides'].items():
            changed.setdefault(section, {}).update(values)
        self.assertEqual(self.expected, changed)
        self.assertEqual(['PcloudFilter'],
                         given['nova_scheduler_extra_filters'])
        overrides = given['nova_nova_conf_overrides']
        self.assertEqual(
            WEIGHERS,
            overrides['filter_scheduler']['weight_classes'].split(','))

    def test_ratios_of_openstack_ansible(self):
        """Nova keeps what Placement has, and begins with the role's ratio."""
        given = yaml.safe_load((OSA / 'user_variables_pcloud.yml').read_text())
        config = self.useFixture(config_fixture.Config(nova.conf.CONF))
        config.config(
            cpu_allocation_ratio=given['nova_cpu_allocation_ratio'],
            ram_allocation_ratio=given['nova_ram_allocation_ratio'],
            **given['nova_nova_conf_overrides']['DEFAULT'])
        ratios = driver.ComputeDriver._get_allocation_ratios
        found = ratios({orc.VCPU: {'allocation_ratio': 7.0},
                        orc.MEMORY_MB: {'allocation_ratio': 3.0}})
        self.assertEqual((7.0, 3.0), (found[orc.VCPU], found[orc.MEMORY_MB]))
        self.assertEqual((2.0, 1.0), (
            ratios({})[orc.VCPU], ratios({})[orc.MEMORY_MB]))

    def test_playbook_of_openstack_ansible(self):
        play, _ = yaml.safe_load((OSA / 'pcloud.yml').read_text())
        content, = (each['ansible.builtin.copy']['content']
                    for each in play['tasks']
                    if 'ansible.builtin.copy' in each)
        path = pathlib.Path(self.useFixture(
            fixtures.TempDir()).path) / 'pcloud.conf'
        path.write_text(content)
        self.assertEqual(
            AVAILABLE, _options(path).filter_scheduler.available_filters)
