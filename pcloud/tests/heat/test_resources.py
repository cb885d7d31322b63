# SPDX-License-Identifier: Apache-2.0

"""Stacks with Pcloud's resources, made by Heat's services on a sandbox."""

import importlib.util
import os
import pathlib
import re
import textwrap
import time
import unittest

from openstack import config
from openstack import connection
from openstack import exceptions

from pcloud.client import v1
from pcloud.tests.sandbox import base

ROOT = pathlib.Path(__file__).parents[3]
GUIDE = ROOT / 'doc/source/user/orchestrators.rst'
# Shows what a template refers to by a name.
OUTPUTS = 'outputs:\n  web: {value: {get_resource: web}}\n'


def template_of_the_guide():
    """Return the template of the guide, with Pcloud's resources."""
    blocks = re.findall(r'\n\.\. code-block:: yaml\n\n((?:   .*\n|\n)+)',
                        GUIDE.read_text())
    text, = (each for each in blocks if 'OS::Pcloud::Pcloud' in each)
    return textwrap.dedent(text)


class StackTest(base.SharedSandboxTest):
    """Alice's stacks."""

    up_options = ('--heat',)

    @classmethod
    def setUpClass(cls):
        if importlib.util.find_spec('heat') is None:
            if os.environ.get('CI'):
                raise AssertionError('openstack-heat is not installed')
            raise unittest.SkipTest('openstack-heat is not installed')
        if named := os.environ.get('PCLOUD_TEST_SANDBOX'):
            cls.folder = pathlib.Path(named)
        else:
            super().setUpClass()
        cls.conn = cls.connect('alice')
        cls.client = v1.Client.from_adapter(cls.conn.compute)
        cls.alice, cls.bob = (
            cls.connect(each).current_project_id for each in ('alice', 'bob'))
        cls._make_pool()
        cls.heat = cls.conn.orchestration

    @classmethod
    def connect(cls, user):
        """Return a connection of a user of the sandbox."""
        clouds = config.OpenStackConfig(
            config_files=[str(cls.folder / 'clouds.yaml')],
            load_envvars=False)
        return connection.Connection(config=clouds.get_one(f'sandbox-{user}'))

    @classmethod
    def _make_pool(cls):
        """Put a host into the pool "gold", unless there is one."""
        admin = cls.connect('admin')
        client = v1.Client.from_adapter(admin.compute)
        if client.list_host_flavors():
            return
        client.create_host_flavor('gold', 1)
        for service in admin.compute.services(
                binary='nova-compute', host='node-1'):
            admin.compute.disable_service(service)
        client.add_pool_host('gold', 'node-1')

    def stack(self, text, **parameters):
        """Make a stack of a template, and return what became of the stack."""
        made = self.heat.create_stack(
            name=self.id().rpartition('.')[2].replace('_', '-'),
            template=text, parameters=parameters)
        self.addCleanup(self.delete, made)
        return self.ended(made)

    def ended(self, stack):
        """Return a stack whose action has come to an end."""
        def is_over():
            found.append(self.heat.get_stack(stack.id))
            return not found[-1].status.endswith('_IN_PROGRESS')

        found = []
        self.wait_for(is_over)
        return found[-1]

    def update(self, stack, text, **parameters):
        """Update a stack, and return what became of the stack."""
        self.heat.update_stack(stack.id, template=text, parameters=parameters)
        return self.ended(stack)

    def delete(self, stack):
        """Delete a stack, unless the stack is gone, and wait."""
        self.heat.delete_stack(stack.id)
        self.assert_gone(stack)

    def assert_gone(self, stack):
        """Assert that the deletion of a stack comes to a good end."""
        with self.assertRaises(exceptions.NotFoundException):
            self.fail(self.ended(stack).status_reason)

    def assert_done(self, action, stack):
        """Assert that an action of a stack has come to a good end."""
        self.assertEqual(f'{action}_COMPLETE', stack.status,
                         stack.status_reason)

    def ids(self, stack):
        """Return the ids of a stack's resources, by their names."""
        return {each.name: each.physical_resource_id
                for each in self.heat.resources(stack)}

    def test_guide(self):
        text = template_of_the_guide() + OUTPUTS
        stack = self.stack(text, tenant=self.bob)
        self.assert_done('CREATE', stack)

        ids = self.ids(stack)
        host, = self.client.list_hosts(ids['farm'])
        self.assertEqual('enabled', host.state)
        self.assertEqual([host.name], [
            each['output_value'] for each in stack.outputs])
        self.assertEqual(('render-farm', 4.0, 2), self.caps(ids['farm']))
        self.assertEqual(
            ids['farm'], self.client.get_default_pcloud().pcloud)
        server = ids['server']
        self.assertEqual([server], [
            each.server for each in self.client.list_placed_servers([server])])

        stack = self.update(
            stack, text.replace('max_servers: 2', 'max_servers: 3')
            .replace('name: render-farm', 'name: farm')
            .replace('cpu_allocation_ratio: 4', '')
            .replace('move: live', 'move: any'), tenant=self.bob)
        self.assert_done('UPDATE', stack)
        self.assertEqual(ids, self.ids(stack))
        self.assertEqual(('farm', None, 3), self.caps(ids['farm']))

        self.delete(stack)
        self.assertEqual([], self.client.list_pclouds())
        self.assertIsNone(self.client.get_default_pcloud().pcloud)

    def caps(self, farm):
        """Return name and ratio of a Pcloud, and how many servers Bob has."""
        found = self.client.get_pcloud(farm)
        cap, = (each.max_servers for each in self.client.list_tenants(farm)
                if each.project_id == self.bob)
        return found.name, found.cpu_allocation_ratio, cap

    def test_deletion_waits_for_a_server(self):
        stack = self.stack('''
            heat_template_version: 2021-04-16
            resources:
              farm:
                type: OS::Pcloud::Pcloud
              web:
                type: OS::Pcloud::Host
                properties:
                  pcloud: {get_resource: farm}
                  name: web
                  host_flavor: gold
            ''')
        self.assert_done('CREATE', stack)
        farm = self.ids(stack)['farm']
        compute = self.conn.compute
        other = compute.wait_for_server(compute.create_server(
            name='other', networks='none', scheduler_hints={'pcloud': farm},
            flavor_id=compute.find_flavor('m1.tiny').id,
            image_id=self.conn.image.find_image('cirros').id))
        self.heat.delete_stack(stack.id)
        self.wait_for(
            lambda: self.client.get_host(farm, 'web').state == 'draining')
        self.assertEqual('DELETE_IN_PROGRESS',
                         self.heat.get_stack(stack.id).status)
        compute.delete_server(other)
        self.assert_gone(stack)
        self.assertEqual([], self.client.list_pclouds())

    def wait_for(self, reached):
        """Look until something is so; the suite's own time is the limit."""
        while not reached():
            time.sleep(1)

    def test_what_the_api_refuses_is_the_reason(self):
        stack = self.stack('''
            heat_template_version: 2021-04-16
            resources:
              farm:
                type: OS::Pcloud::Pcloud
              web:
                type: OS::Pcloud::Host
                properties:
                  pcloud: {get_resource: farm}
                  host_flavor: no-such
            ''')
        self.assertEqual('CREATE_FAILED', stack.status)
        self.assertIn("Host flavor 'no-such' could not be found",
                      stack.status_reason)
        self.delete(stack)
        self.assertEqual([], self.client.list_pclouds())

    def test_templates_that_say_too_little(self):
        for properties, told in (
                ('host_flavor: gold, constraints: ram=1G',
                 'either host_flavor or constraints'),
                ('name: web', 'either host_flavor or constraints')):
            with self.assertRaisesRegex(
                    exceptions.BadRequestException, told):
                self.stack(f'''
                    heat_template_version: 2021-04-16
                    resources:
                      web:
                        type: OS::Pcloud::Host
                        properties: {{pcloud: x, {properties}}}
                    ''')
        for properties, told in (
                ('mode: grow', 'needs host_flavor and max_hosts'),
                ('max_hosts: 2', 'are for the mode grow')):
            with self.assertRaisesRegex(
                    exceptions.BadRequestException, told):
                self.stack(f'''
                    heat_template_version: 2021-04-16
                    resources:
                      default:
                        type: OS::Pcloud::Default
                        properties: {{pcloud: x, {properties}}}
                    ''')
