# SPDX-License-Identifier: Apache-2.0

"""Where the files of installed distributions are found."""

import pathlib

import ddt
import fixtures
import testtools

from pcloud_sandbox.configuration import paste


@ddt.ddt
class PackagedTest(testtools.TestCase):
    """Packages of Debian list no files; no wheel has these either."""

    def setUp(self):
        super().setUp()
        self.shared = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud_sandbox.configuration.paste._SHARED', self.shared))

    @ddt.data(('nova', 'etc/nova/other.ini', 'nova-common/other.ini'),
              ('nova', 'etc/nova/more/other', 'nova-common/more/other'),
              ('openstack-pcloud', 'other/plugin.sh',
               'openstack-pcloud/other/plugin.sh'))
    @ddt.unpack
    def test_file_of_a_package(self, distribution, name, place):
        self.assertRaises(
            FileNotFoundError, paste.installed, distribution, name)
        path = self.shared / place
        path.parent.mkdir(parents=True)
        path.touch()
        self.assertEqual(path, paste.installed(distribution, name))
