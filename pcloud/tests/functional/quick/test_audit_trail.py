# SPDX-License-Identifier: Apache-2.0

"""The audit filter of keystonemiddleware before and behind Pcloud's."""

import pathlib
from unittest import mock
import warnings

from keystonemiddleware.audit import _notifier

from pcloud.cmd import status
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

MAP = pathlib.Path(__file__).parents[4] / 'etc/pcloud/api_audit_map.conf'


class TrailTestCase(shared_cloud.SharedCloudTestCase):

    hosts = {'node-1': 'az1'}
    order = 'audit pcloud'

    def _configure(self):
        super()._configure()
        path = pathlib.Path(base.CONF.wsgi.api_paste_config)
        path.write_text(path.read_text().replace(
            ' pcloud ', f' {self.order} ') + f"""
[filter:audit]
paste.filter_factory = keystonemiddleware.audit:filter_factory
audit_map_file = {MAP}
use_oslo_messaging = false
""")

    def events(self, *call):
        """Return what the audit filter tells of a call."""
        with (mock.patch.object(_notifier._LogNotifier, 'notify') as told,
              warnings.catch_warnings(action='ignore')):
            # The ids of users are no uuids here.
            response = self.admin.call(*call)
        return response.status_code, [
            (event['action'], event['outcome'], event['requestPath'])
            for (_, kind, event), _ in told.call_args_list
            if kind == 'audit.http.response']

    def judged(self):
        result = status.Checks().check_paste()
        return result.code.name, result.details or ''


class BeforeTest(TrailTestCase):

    def test_calls(self):
        body = {'host_flavor': {'id': 'gpu', 'description': '', 'units': 1}}
        path = '/v2.1/os-host-flavors'
        self.assertEqual(
            (201, [('create', 'success', path)]),
            self.events('POST', '/os-host-flavors', body))
        self.assertEqual(
            (409, [('create', 'failure', path)]),
            self.events('POST', '/os-host-flavors', body))
        self.assertEqual(
            (204, [('delete', 'success', f'{path}/gpu')]),
            self.events('DELETE', '/os-host-flavors/gpu'))

    def test_status(self):
        self.assertEqual(('SUCCESS', ''), self.judged())


class BehindTest(TrailTestCase):

    order = 'pcloud audit'

    def test_calls(self):
        self.assertEqual((200, []), self.events('GET', '/os-host-flavors'))
        # Nova's own calls come through.
        self.assertEqual(1, len(self.events('GET', '/servers')[1]))

    def test_status(self):
        code, details = self.judged()
        self.assertEqual('WARNING', code)
        self.assertIn("keystonemiddleware.audit:filter_factory in "
                      'openstack_compute_api_v21', details)
