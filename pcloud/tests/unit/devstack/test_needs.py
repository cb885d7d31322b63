# SPDX-License-Identifier: Apache-2.0

"""A machine that lacks something is told what would be right."""

import dataclasses
import os
import pathlib
import tempfile

import ddt
import testtools

from pcloud.tests.devstack import needs
from pcloud.tests.devstack import options
from pcloud.tests.devstack import repositories

COMMANDS = frozenset({'debootstrap', 'git', 'nsenter', 'setpriv',
                      'slirp4netns', 'systemd-nspawn', 'unshare'})
FIT = needs.Machine(
    user=0, commands=COMMANDS, has_tun=True, has_cgroup2=True, gigabytes=15,
    repositories=frozenset(repositories.NAMES))
OPTIONS = options.parse(['--git-base', '/srv/git', '--cache', '/srv/cache'],
                        {})


@ddt.ddt
class RefusalsTest(testtools.TestCase):

    def test_none(self):
        self.assertEqual([], list(needs.refusals(FIT, OPTIONS)))

    @ddt.data(
        ({'user': 1000}, 'need root: run "sudo tox -e devstack"'),
        ({'commands': COMMANDS - {'nsenter', 'unshare', 'debootstrap'}},
         'no debootstrap, nsenter, unshare in the PATH: "apt-get install '
         'debootstrap util-linux"'),
        ({'commands': COMMANDS - {'systemd-nspawn'}},
         '"apt-get install systemd-container"'),
        # Without git, the repositories were not looked at.
        ({'commands': COMMANDS - {'git'}, 'repositories': frozenset()},
         '"apt-get install git"'),
        ({'has_tun': False}, '"modprobe tun"'),
        ({'has_cgroup2': False}, '"mount -t cgroup2 none '),
        ({'gigabytes': 14}, '14 GB free in /srv/cache: the box takes 15'),
        ({'repositories': FIT.repositories - {'nova', 'devstack'}},
         'no branch master in /srv/git/openstack/devstack, '
         '/srv/git/openstack/nova: '))
    @ddt.unpack
    def test_one(self, lacking, told):
        machine = dataclasses.replace(FIT, **lacking)
        found = list(needs.refusals(machine, OPTIONS))
        self.assertEqual(1, len(found), found)
        self.assertIn(told, found[0])

    def test_all(self):
        machine = needs.Machine(1000, frozenset(), False, False, 0,
                                frozenset())
        self.assertEqual(5, len(list(needs.refusals(machine, OPTIONS))))

    def test_looking(self):
        with tempfile.TemporaryDirectory() as folder:
            chosen = dataclasses.replace(
                OPTIONS, git_base=folder, cache=pathlib.Path(folder, 'new'))
            machine = needs.look(chosen)
            self.assertTrue(chosen.cache.is_dir())
        self.assertEqual(os.geteuid(), machine.user)
        self.assertEqual(frozenset(), machine.repositories)
