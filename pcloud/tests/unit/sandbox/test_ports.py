# SPDX-License-Identifier: Apache-2.0


"""Which ports a sandbox listens on."""

import socket
import unittest

from pcloud_sandbox.configuration import ports
from pcloud_sandbox import errors


class ChooseTest(unittest.TestCase):

    def test_found(self):
        found = ports.choose(None)
        self.assertEqual(list(ports.SERVICES), list(found))
        self.assertEqual(len(found), len(set(found.values())))

    def test_chosen(self):
        base = ports.choose(None)['keystone']
        self.assertEqual(
            {'keystone': base, 'placement': base + 1, 'glance': base + 2,
             'neutron': base + 3, 'nova': base + 4, 'horizon': base + 5,
             'heat': base + 6},
            ports.choose(base))

    def test_taken(self):
        base = ports.choose(None)['keystone']
        with socket.socket() as taken:
            taken.bind((ports.HOST, base + 3))
            taken.listen()
            self.assertRaisesRegex(
                errors.SandboxError,
                f'port {base + 3}, wanted for neutron', ports.choose, base)

    def test_out_of_range(self):
        for base in (-1, 0, 65530, 70000):
            self.assertRaisesRegex(errors.SandboxError, 'from 1 to 65529',
                                   ports.choose, base)
