# SPDX-License-Identifier: Apache-2.0

"""The plays of the guide, run by ansible-core against a sandbox."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from pcloud.tests.sandbox import base

ROOT = pathlib.Path(__file__).parents[3]
PLAYS = ROOT / 'ansible/playbooks'
CALLBACKS = pathlib.Path(__file__).parent / 'callbacks'


def program() -> str | None:
    """Return the path of ansible-playbook, None where there is none."""
    return shutil.which('ansible-playbook', path=os.pathsep.join(
        (str(pathlib.Path(sys.executable).parent), os.environ['PATH'])))


class CollectionTest(base.SharedSandboxTest):
    """Each play says what is true, changes what is not, and then nothing."""

    @classmethod
    def setUpClass(cls):
        if program() is None:
            if os.environ.get('CI'):
                raise AssertionError('ansible-core is not installed')
            raise unittest.SkipTest('ansible-core is not installed')
        parent = tempfile.mkdtemp(prefix='pcloud-ansible-test-')
        cls.addClassCleanup(shutil.rmtree, parent)
        cls.collections = pathlib.Path(parent)
        namespace = cls.collections / 'ansible_collections/openstack_pcloud'
        namespace.mkdir(parents=True)
        (namespace / 'pcloud').symlink_to(ROOT / 'ansible')
        super().setUpClass()

    def play(self, name, *options):
        """Run a play, and return the tasks' names with changed and diff."""
        environment = self.command_environment() | {
            'ANSIBLE_COLLECTIONS_PATH': str(self.collections),
            'ANSIBLE_HOME': str(self.collections / 'home'),
            'ANSIBLE_CALLBACK_PLUGINS': str(CALLBACKS),
            'ANSIBLE_STDOUT_CALLBACK': 'results',
            'ANSIBLE_LOCALHOST_WARNING': 'False',
            'ANSIBLE_INVENTORY_UNPARSED_WARNING': 'False',
            'OS_CLIENT_CONFIG_FILE': str(self.folder / 'clouds.yaml'),
            'PYTHONPATH': str(ROOT)}
        del environment['OS_TOKEN']
        done = subprocess.run(
            [program(), str(PLAYS / name), *options,
             '-e', 'operator_cloud=sandbox-admin',
             '-e', 'owner_cloud=sandbox-alice',
             '-e', f'tenant={self.tenant()}',
             '-e', f'ansible_python_interpreter={sys.executable}'],
            env=environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return dict(json.loads(line) for line in done.stdout.splitlines())

    def tenant(self):
        """Return the id of Bob's project."""
        return self.shell('admin', 'openstack project show bob -f value -c id'
                          ).strip()

    def changed(self, tasks):
        """Return the names of the tasks that have changed something."""
        return [name for name, task in tasks.items() if task['changed']]

    def names(self):
        """Return the names of Alice's Pclouds."""
        return json.loads(self.shell(
            'alice', 'openstack pcloud list -f json'))

    def test_plays(self):
        forecast = self.play('render_farm.yml', '--check', '--diff')
        self.assertEqual(5, len(self.changed(forecast)))
        self.assertEqual([], self.names())

        first = self.play('render_farm.yml', '--diff')
        *made, told = first
        self.assertEqual(made, self.changed(first))
        found = first[told]
        host, = found['hosts']
        self.assertEqual(('web', 'enabled', 'gold'),
                         (host['name'], host['state'], host['host_flavor']))
        self.assertEqual(
            [2], [each['max_servers'] for each in found['tenants']
                  if each['id'] == self.tenant()])
        self.assertEqual('migrate', found['pclouds'][0]['maintenance_policy'])

        again = self.play('render_farm.yml', '--diff')
        self.assertEqual([], self.changed(again))
        for task in again.values():
            if 'diff' in task:
                self.assertEqual(task['diff']['before'],
                                 task['diff']['after'])

        self.assertEqual(3, len(self.changed(self.play(
            'no_render_farm.yml', '--check'))))
        self.assertEqual(1, len(self.names()))
        self.assertEqual(3, len(self.changed(self.play(
            'no_render_farm.yml'))))
        self.assertEqual([], self.names())
        self.assertEqual([], self.changed(self.play('no_render_farm.yml')))
