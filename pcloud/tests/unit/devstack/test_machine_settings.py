# SPDX-License-Identifier: Apache-2.0

"""What the box is handed of the settings of a machine."""

import ddt
import testtools

from pcloud.tests.devstack import machine_settings

BUNDLE = machine_settings.BUNDLE


def certificate(body):
    """Return a certificate as a bundle has certificates."""
    return ('-----BEGIN CERTIFICATE-----\n'
            f'{body}\n'
            '-----END CERTIFICATE-----')


@ddt.ddt
class PipConfTest(testtools.TestCase):

    @ddt.data(
        ([], ''),
        (["global.timeout='60'"], 'timeout = 60\n'),
        (["global.index-url='https://there/simple'"],
         'index-url = https://there/simple\n'),
        # Files and folders of the machine are not in the box.
        (["global.cert='/etc/my.crt'", "global.client-cert='mine.pem'"], ''),
        (["global.find-links='/opt/wheels'",
          "global.extra-index-url='file:///opt/a file:///opt/b'"], ''),
        (["global.extra-index-url='file:///opt/a https://there https://2'"],
         'extra-index-url = https://there\n    https://2\n'),
        # A variable counts more than a file, and comes later in the list.
        (["global.timeout='60'", ":env:.timeout='90'"], 'timeout = 90\n'),
        (["install.pre='1'", ":env:.timeout='9'"],
         'timeout = 9\n[install]\npre = 1\n'))
    @ddt.unpack
    def test_lines(self, lines, expected):
        self.assertEqual(f'[global]\ncert = {BUNDLE}\n{expected}',
                         machine_settings.pip_conf(lines))


class SettingsTest(testtools.TestCase):

    def test_proxies(self):
        chosen = {'http_proxy': 'http://a', 'HTTPS_PROXY': 'http://b',
                  'no_proxy': 'localhost'}
        self.assertEqual(chosen, machine_settings.proxies(
            {**chosen, 'PATH': '/bin', 'my_http_proxy_is': 'there'}))

    def test_apt_conf(self):
        lines = ['Acquire "";', 'Acquire::http "";',
                 'Acquire::http::Proxy "http://a:1";',
                 'Acquire::https::Verify-Peer "false";',
                 'Acquire::Check-Date "false";', 'Dir::Cache "var/cache";',
                 'Acquire::Languages:: "en";']
        self.assertEqual('Acquire::http::Proxy "http://a:1";\n'
                         'Acquire::https::Verify-Peer "false";\n'
                         'Acquire::Check-Date "false";\n',
                         machine_settings.apt_conf(lines))

    def test_more_certificates(self):
        one, two, three = (certificate(body) for body in ('MII', 'A', 'B='))
        self.assertEqual(
            [two, three],
            machine_settings.more_certificates(
                f'# One\n{one}\n{two}\n{three}\n', f'{one}\n'))
