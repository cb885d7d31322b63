# SPDX-License-Identifier: Apache-2.0

import unittest

from pcloud.rules import host_resources

AVX, STATE = 'HW_CPU_X86_AVX', 'COMPUTE_STATUS_DISABLED'


def _host(*traits, **total):
    return host_resources.Resources(
        total, dict.fromkeys(total, 0), frozenset(traits))


class KindTest(unittest.TestCase):

    def test_of_no_host(self):
        self.assertIsNone(host_resources.kind([]))

    def test_the_table(self):
        self.assertEqual(
            host_resources.Kind({'VCPU': 4}, frozenset([AVX]), 4),
            host_resources.kind([
                _host(AVX, 'CUSTOM_A', VCPU=8, VGPU=2),
                _host(AVX, VCPU=4, CUSTOM_A=1)]))

    def test_cpus_of_one_host_count_together(self):
        kind = host_resources.kind([
            _host(VCPU=2, PCPU=6), _host(VCPU=5, PCPU=4),
            _host(VCPU=10)])
        self.assertEqual((8, {'VCPU': 2}), (kind.cpus, kind.resources))

    def test_without_cpus(self):
        self.assertEqual(0, host_resources.kind([_host(CUSTOM_A=1)]).cpus)


class ResourcesTest(unittest.TestCase):

    def test_sizes_of_the_node(self):
        host = host_resources.Resources(
            {'VCPU': 160, 'MEMORY_MB': 7680, 'VGPU': 2},
            {'VCPU': 12, 'MEMORY_MB': 512, 'VGPU': 0}, frozenset([AVX]))
        self.assertEqual(
            host_resources.Resources(
                {'VCPU': 10, 'MEMORY_MB': 8192, 'VGPU': 2},
                host.used, host.traits),
            host_resources.sized(host, 10, 8192, 100))

    def test_what_lasts(self):
        self.assertEqual({AVX}, host_resources.lasting([AVX, STATE]))
