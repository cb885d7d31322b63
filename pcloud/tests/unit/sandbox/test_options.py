# SPDX-License-Identifier: Apache-2.0


import ddt
from oslotest import base

from pcloud_sandbox.configuration import options
from pcloud_sandbox import errors


@ddt.ddt
class OptionsTest(base.BaseTestCase):

    @ddt.data(('pcloud', 'quota_units', '20'),
              ('pcloud', 'quota_units', '-1'),
              ('pcloud', 'customer_key_scope', 'project'),
              ('DEFAULT', 'debug', 'true'),
              ('DEFAULT', 'rpc_response_timeout', '90'),
              ('scheduler', 'max_placement_results', '10'))
    @ddt.unpack
    def test_right(self, section, option, value):
        options.check_value(section, option, value)

    @ddt.data(
        (('pclouds', 'quota_units', '1'), 'pcloud was probably meant'),
        (('pcloud', 'quota_unit', '1'), 'quota_units was probably meant'),
        (('pcloud', 'x', '1'), r'\[pcloud\] x: there is no such option'),
        (('pcloud', 'quota_units', 'ten'), 'quota_units = ten: .*ten'),
        (('pcloud', 'customer_key_scope', 'here'), 'cloud, project'))
    @ddt.unpack
    def test_wrong(self, given, expected):
        with self.assertRaisesRegex(errors.SandboxError, expected):
            options.check_value(*given)
