# SPDX-License-Identifier: Apache-2.0

"""The examples of the guide for orchestrators, by the calls that these make.

Heat, Terraform and Cluster API send the hints beside the server, as
``os:scheduler_hints``; openstacksdk makes its own body.
"""

import ast
import pathlib
import re
import textwrap

from openstack.compute.v2 import server as sdk
import yaml

from pcloud.tests.functional.quick import test_default_pcloud

GUIDE = (pathlib.Path(__file__).parents[4] / 'doc' / 'source' / 'user' /
         'orchestrators.rst')
# The Pcloud of the examples.
EXAMPLE = '0d3a7cb4-51e9-4d5c-8a1e-6a4e9f6f1b2c'


def blocks(title, language):
    """Return the blocks of code below a title of the guide."""
    text = re.search(
        rf'^{re.escape(title)}\n([=-])\1+\n(.*?)(?=^[^\n]+\n[=-]{{3,}}\n|\Z)',
        GUIDE.read_text(), re.MULTILINE | re.DOTALL)[2]
    return [textwrap.dedent(each) for each in re.findall(
        rf'^.. code-block:: {language}\n((?:\n|   .*\n)+)', text,
        re.MULTILINE)]


class TemplateTest(test_default_pcloud.DefaultTestCase):

    def test_the_template_of_the_guide(self):
        self.set_default(user=self.alice)
        # Heat asks for the first version of what a template needs.
        self.alice.microversion = '2.1'
        text, = blocks('A template', 'yaml')
        made = {}
        for name, resource in yaml.safe_load(text)['resources'].items():
            make = {'OS::Nova::ServerGroup': self._group,
                    'OS::Nova::Server': self._server}[resource['type']]
            made[name] = make(name, resource['properties'], made)
        hosts = [self.host_of(self.ended(server)) for server
                 in made.values() if isinstance(server, dict)]
        self.assertEqual(sorted(self.inside), sorted(hosts))

    def _group(self, name, properties, made):
        return self.alice.call_json('POST', '/os-server-groups', {
            'server_group': dict(properties)})['server_group']['id']

    def _server(self, name, properties, made):
        hints = {key: made[value['get_resource']] for key, value
                 in properties['scheduler_hints'].items()}
        return self.started({'os:scheduler_hints': hints})

    def started(self, members):
        """Start a server, with what a tool sends beside the server."""
        server = self._build_server(flavor_id='1')
        server.pop('networks', None)
        return self.alice.call_json(
            'POST', '/servers', {'server': server, **members})['server']

    def assert_inside(self, members):
        text = yaml.safe_dump(members)
        self.assertIn(EXAMPLE, text)
        self.alice.microversion = '2.1'
        made = self.started(
            yaml.safe_load(text.replace(EXAMPLE, self.pcloud)))
        self.alice.microversion = 'latest'
        self.assertEqual('inside', self.where(self.ended(made)))

    def test_heat(self):
        text, = blocks('Heat', 'yaml')
        web = yaml.safe_load(text)['resources']['web']
        self.assertEqual('OS::Nova::Server', web['type'])
        self.assert_inside({
            'os:scheduler_hints': web['properties']['scheduler_hints']})

    def test_terraform(self):
        text, = blocks('Terraform and OpenTofu', 'terraform')
        # A map of strings in HCL.
        given = re.search(
            r'scheduler_hints {\s*additional_properties = {(.*?)}', text,
            re.DOTALL)[1]
        self.assert_inside({'os:scheduler_hints': dict(
            re.findall(r'(\w+)\s*= "([^"]*)"', given))})

    def test_ansible(self):
        text, = blocks('Ansible', 'yaml')
        play, = yaml.safe_load(text)
        task, = play['tasks']
        self.assert_inside(self.of_sdk(
            task['openstack.cloud.server']['scheduler_hints']))

    def test_python(self):
        text, = blocks('Python', 'python')
        call, = [each for each in ast.walk(ast.parse(text))
                 if isinstance(each, ast.Call) and
                 getattr(each.func, 'attr', '') == 'create_server']
        hints, = [each.value for each in call.keywords
                  if each.arg == 'scheduler_hints']
        self.assert_inside(self.of_sdk(ast.literal_eval(hints)))

    def of_sdk(self, hints):
        """Return what openstacksdk sends beside the server."""
        body = sdk.Server.new(
            name='web', scheduler_hints=hints)._prepare_request(
                requires_id=False).body
        self.assertNotIn(EXAMPLE, str(body.pop('server')))
        return body

    def test_cluster_api(self):
        text, = blocks('Cluster API', 'yaml')
        machine = yaml.safe_load(text)['spec']['template']['spec']
        self.assert_inside({'os:scheduler_hints': {
            each['name']: each['value'][each['value']['type'].lower()]
            for each in machine['schedulerHintAdditionalProperties']}})
