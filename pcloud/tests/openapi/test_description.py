# SPDX-License-Identifier: Apache-2.0

"""Calls made up from the published description, to a sandbox.

schemathesis makes up right and wrong calls, and compares each answer with the
description. None may be an error of the server, none may be other than
described, whoever asks.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from pcloud.api import openapi
from pcloud.api import routes
from pcloud.tests.sandbox import base

# So many calls are made up for each call of the table, and for each user.
EXAMPLES = int(os.environ.get('PCLOUD_TEST_CALLS', 30))

CHECKS = ('not_a_server_error', 'status_code_conformance',
          'content_type_conformance', 'response_schema_conformance',
          'negative_data_rejection', 'unsupported_method')

FURNISH = '''
openstack host flavor create gpu --units 1
openstack compute service set --disable node-1 nova-compute
openstack host flavor host add gpu node-1
openstack user create --project alice --password reader reader-of-alice
openstack role add --project alice --user reader-of-alice reader
'''


class DescriptionTest(base.SharedSandboxTest):
    """The API of a sandbox is the API that is described."""

    up_options = ('--hosts', '2')

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        status, _, told = cls.started
        if status:
            raise AssertionError(told)
        cls.shell('admin', FURNISH)
        cls.shell('alice', 'openstack pcloud create farm')
        folder = tempfile.mkdtemp(prefix='pcloud-openapi-test-')
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.description = pathlib.Path(folder, 'openapi.json')
        cls.description.write_text(json.dumps(openapi.description()))
        cls.endpoint = cls.shell('admin', (
            'openstack catalog show nova -f json')).strip()

    def judge(self, user=None, **environment):
        """Have calls made up, of a user or without a token."""
        token = '' if user is None else self.token(user, **environment)
        done = subprocess.run(
            [sys.executable, '-m', 'schemathesis.cli', 'run',
             str(self.description), '--url', self.url(),
             '--checks', ','.join(CHECKS), '--phases', 'coverage,fuzzing',
             '--max-examples', str(EXAMPLES),
             '--generation-deterministic', '--no-color',
             '--header', f'X-Auth-Token: {token}'],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(0, done.returncode, done.stdout[-20000:])
        self.assertIn(f'{len(routes.ROUTES)} selected', done.stdout)

    def url(self):
        """Return the compute endpoint."""
        endpoint, = {each['url'] for each in json.loads(
            self.endpoint)['endpoints']
            if each['interface'] == 'public'}
        return endpoint

    def token(self, user, **environment):
        """Return a token of a user of the sandbox."""
        exports = ''.join(f'export {name}={value}\n'
                          for name, value in environment.items())
        return self.shell(user, (
            f'{exports}openstack token issue -f value -c id')).strip()

    def test_administrator(self):
        self.judge('admin')

    def test_member(self):
        self.judge('alice')

    def test_reader(self):
        self.judge('alice', OS_USERNAME='reader-of-alice',
                   OS_PASSWORD='reader')

    def test_stranger(self):
        self.judge('bob')

    def test_nobody(self):
        self.judge()
