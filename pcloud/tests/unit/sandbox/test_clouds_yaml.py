# SPDX-License-Identifier: Apache-2.0


"""The clouds.yaml of a sandbox."""

import pathlib
import stat
import tempfile
import unittest

from openstack import config

from pcloud_sandbox.configuration import clouds_yaml
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings

CHOSEN = settings.Settings(
    hosts=2, ports={'keystone': 5000}, password="it's $HOME; \"x\"")


class CloudsYamlTest(unittest.TestCase):

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.where = layout.Layout(pathlib.Path(folder.name))
        clouds_yaml.write(self.where, CHOSEN)

    def test_openstacksdk_reads_what_was_written(self):
        read = config.OpenStackConfig(
            config_files=[str(self.where.clouds)], load_envvars=False)
        for user in settings.USERS:
            region = read.get_one(cloud=f'sandbox-{user}')
            self.assertEqual('RegionOne', region.region_name)
            self.assertEqual(
                {'auth_url': 'http://127.0.0.1:5000/v3', 'username': user,
                 'password': CHOSEN.password, 'project_name': user,
                 'user_domain_id': 'default', 'project_domain_id': 'default'},
                region.config['auth'])

    def test_only_the_owner_reads(self):
        self.assertEqual(
            0o600, stat.S_IMODE(self.where.clouds.stat().st_mode))

    def test_is_a_file_of_a_sandbox(self):
        self.where.lock.touch()
        self.where.check_usable()
