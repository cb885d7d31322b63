# SPDX-License-Identifier: Apache-2.0

import ddt
from oslotest import base

from pcloud import exception
from pcloud.metrics import addresses


@ddt.ddt
class ParseTest(base.BaseTestCase):

    @ddt.unpack
    @ddt.data(('127.0.0.1:9841', '127.0.0.1', 9841),
              (':9841', '127.0.0.1', 9841),
              ('0.0.0.0:80', '0.0.0.0', 80),
              ('controller-1.example.org:65535', 'controller-1.example.org',
               65535),
              ('[::1]:9000', '::1', 9000),
              ('[::]:0', '::', 0),
              ('[::ffff:10.0.0.1]:9', '::ffff:10.0.0.1', 9))
    def test_right(self, text, host, port):
        found = addresses.parse(text)
        self.assertEqual((host, port), (found.host, found.port))
        self.assertEqual(found, addresses.parse(str(found)))

    @ddt.data('', '9841', '127.0.0.1', '127.0.0.1:', 'localhost', '::1:9000',
              '::1', '[::1]', '[::1]9000', '[]:9000', '[localhost]:9000',
              '[1:2]:9000', '127.0.0.1:65536', '127.0.0.1:-1',
              '127.0.0.1:+80', '127.0.0.1:80 ', ' :80', 'a b:80',
              'http://127.0.0.1:80', '127.0.0.1:80/metrics',
              '127.0.0.1:٨٠', '127.0.0.1:80\n')
    def test_wrong(self, text):
        error = self.assertRaises(
            exception.InvalidValue, addresses.parse, text)
        self.assertIn('ADDRESS:PORT', str(error))
