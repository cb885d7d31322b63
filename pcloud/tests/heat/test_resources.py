# SPDX-License-Identifier: Apache-2.0

"""Stacks of Heat's own engine with Pcloud's resources, on a sandbox.

Heat's engine runs in the process of the test, over a database of its own.
Keystone, Nova, Placement, Glance and the worker are those of the sandbox.
"""

import importlib.util
import os
import pathlib
import re
import textwrap
import threading
import time
import unittest

from openstack import config
from openstack import connection

from pcloud.client import v1
from pcloud.tests.sandbox import base

ROOT = pathlib.Path(__file__).parents[3]
GUIDE = ROOT / 'doc/source/user/orchestrators.rst'
PLUGINS = ROOT / 'pcloud_heat/plugins'


def template_of_the_guide():
    """Return the template of the guide, with Pcloud's resources."""
    blocks = re.findall(r'\n\.\. code-block:: yaml\n\n((?:   .*\n|\n)+)',
                        GUIDE.read_text())
    text, = (each for each in blocks if 'OS::Pcloud::Pcloud' in each)
    return textwrap.dedent(text)


class StackTest(base.SharedSandboxTest):
    """Alice's stacks."""

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
        cls._start_engine()

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

    @classmethod
    def _start_engine(cls):
        """Load what heat-engine loads, with a new database."""
        from heat.common import config  # noqa: F401
        from heat.common import messaging
        from heat.engine import resources
        from heat.tests import utils
        from oslo_config import cfg

        cfg.CONF([], project='heat', default_config_files=[])
        cfg.CONF.set_override('plugin_dirs', [str(PLUGINS)])
        # Trusts need a user of Heat's in Keystone.
        cfg.CONF.set_override('deferred_auth_method', 'password')
        messaging.setup('fake://', optional=True)
        cls.addClassCleanup(messaging.cleanup)
        resources.global_env()
        utils.setup_dummy_db()
        cls.addClassCleanup(utils.reset_dummy_db)

    def context(self):
        """Return the context of a request of Alice's."""
        from heat.common import context
        auth = self.conn.config.config['auth']
        return context.RequestContext(
            username=auth['username'], password=auth['password'],
            auth_url=auth['auth_url'], user_domain_id='default',
            project_id=self.alice,
            roles=['member', 'reader'], is_admin=False)

    def stack(self, text, **parameters):
        """Return a stack that is stored, and not made yet."""
        from heat.common import template_format
        from heat.engine import environment
        from heat.engine import stack
        from heat.engine import template
        made = stack.Stack(
            self.context(), self.id().rpartition('.')[2].replace('_', '-'),
            template.Template(
                template_format.parse(text),
                env=environment.Environment({'parameters': parameters})))
        made.validate()
        made.store()
        return made

    def assert_done(self, stack, action):
        """Assert that an action of a stack has come to a good end."""
        self.assertEqual((action, 'COMPLETE'), stack.state, {
            name: each.status_reason for name, each in stack.items()})

    def update(self, stack, text, **parameters):
        """Update a stack, and return the stack as the next request has it."""
        from heat.common import template_format
        from heat.engine import environment
        from heat.engine import stack as heat_stack
        from heat.engine import template
        newer = heat_stack.Stack(
            stack.context, stack.name, template.Template(
                template_format.parse(text),
                env=environment.Environment({'parameters': parameters})))
        stack.update(newer)
        return heat_stack.Stack.load(self.context(), stack.id)

    def test_guide(self):
        text = template_of_the_guide()
        stack = self.stack(text, tenant=self.bob)
        stack.create()
        self.assert_done(stack, stack.CREATE)

        farm = stack['farm'].resource_id
        host, = self.client.list_hosts(farm)
        self.assertEqual('enabled', host.state)
        self.assertEqual(host.name, stack['web'].FnGetRefId())
        self.assertEqual(('render-farm', 4.0, 2), self.caps(farm))
        self.assertEqual(farm, self.client.get_default_pcloud().pcloud)
        server = stack['server'].resource_id
        self.assertEqual([server], [
            each.server for each in self.client.list_placed_servers([server])])

        before = {name: each.resource_id for name, each in stack.items()}
        stack = self.update(
            stack, text.replace('max_servers: 2', 'max_servers: 3')
            .replace('name: render-farm', 'name: farm')
            .replace('cpu_allocation_ratio: 4', '')
            .replace('move: live', 'move: any'), tenant=self.bob)
        self.assert_done(stack, stack.UPDATE)
        self.assertEqual(before, {
            name: each.resource_id for name, each in stack.items()})
        self.assertEqual(('farm', None, 3), self.caps(farm))

        stack.delete()
        self.assert_done(stack, stack.DELETE)
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
        stack.create()
        self.assert_done(stack, stack.CREATE)
        farm = stack['farm'].resource_id
        compute = self.conn.compute
        other = compute.wait_for_server(compute.create_server(
            name='other', networks='none', scheduler_hints={'pcloud': farm},
            flavor_id=compute.find_flavor('m1.tiny').id,
            image_id=self.conn.image.find_image('cirros').id))
        deletion = threading.Thread(target=stack.delete)
        deletion.start()
        self.addCleanup(deletion.join)
        self.wait_for(
            lambda: self.client.get_host(farm, 'web').state == 'draining')
        self.assertTrue(deletion.is_alive())
        compute.delete_server(other)
        deletion.join()
        self.assert_done(stack, stack.DELETE)
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
        stack.create()
        self.assertEqual((stack.CREATE, stack.FAILED), stack.state)
        self.assertIn("Host flavor 'no-such' could not be found",
                      stack['web'].status_reason)
        stack.delete()
        self.assert_done(stack, stack.DELETE)
        self.assertEqual([], self.client.list_pclouds())

    def test_templates_that_say_too_little(self):
        from heat.common import exception
        for properties, told in (
                ('host_flavor: gold, constraints: ram=1G',
                 'either host_flavor or constraints'),
                ('name: web', 'either host_flavor or constraints')):
            with self.assertRaisesRegex(
                    exception.StackValidationFailed, told):
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
                    exception.StackValidationFailed, told):
                self.stack(f'''
                    heat_template_version: 2021-04-16
                    resources:
                      default:
                        type: OS::Pcloud::Default
                        properties: {{pcloud: x, {properties}}}
                    ''')
