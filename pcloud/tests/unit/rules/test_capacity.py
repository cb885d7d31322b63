# SPDX-License-Identifier: Apache-2.0

"""Rows of the tables in `rules.capacity`."""

from oslotest import base

from pcloud.rules import capacity

AVX = 'HW_CPU_X86_AVX'


def need(vcpus=1, memory=1024, required=(), forbidden=()):
    return capacity.Need({'VCPU': vcpus, 'MEMORY_MB': memory},
                         frozenset(required), frozenset(forbidden))


def host(vcpus=(8,), memory=(8192,), traits=()):
    return capacity.Host({'VCPU': vcpus, 'MEMORY_MB': memory},
                         frozenset(traits))


class CapacityTest(base.BaseTestCase):

    def test_fits(self):
        for wanted, there, times in (
                (need(), host(), 8),
                (need(memory=4000), host(), 2),
                (need(vcpus=9), host(), 0),
                (need(), host(vcpus=(0,)), 0),
                # More may be used than there is since a ratio was lowered.
                (need(), host(vcpus=(-3,)), 0),
                (need(), host(vcpus=()), 0),
                # A server takes what it needs from one of several providers.
                (need(vcpus=3), host(vcpus=(4, 5)), 2),
                (need(vcpus=3), host(vcpus=(4, -5)), 1),
                (need(required=[AVX]), host(), 0),
                (need(required=[AVX]), host(traits=[AVX]), 8),
                (need(forbidden=[AVX]), host(traits=[AVX]), 0),
                # What others give is not this host's shortage.
                (capacity.Need({'DISK_GB': 5}), host(), 1)):
            self.assertEqual(times, capacity.fits(wanted, there))
            self.assertEqual(not times, bool(
                capacity.shortages(wanted, there)), wanted)

    def test_shortages(self):
        self.assertEqual(
            ['512 MiB of memory are left, 1024 are needed',
             '0 cpus are left, 2 are needed', f'it has not trait {AVX}',
             'it has trait CUSTOM_SLOW'],
            capacity.shortages(
                need(vcpus=2, required=[AVX], forbidden=['CUSTOM_SLOW']),
                host(vcpus=(-1,), memory=(512,), traits=['CUSTOM_SLOW'])))

    def test_one_of_a_resource(self):
        self.assertEqual(
            ['1 MiB of memory is left, 2 are needed',
             '0 cpus are left, 1 is needed'],
            capacity.shortages(need(memory=2), host(vcpus=(0,), memory=(1,))))
        self.assertEqual(['1 MiB of memory', '1 cpu'],
                         capacity.words(need(memory=1)))

    def test_groups(self):
        group = [need(vcpus=2, required=[AVX]), need(memory=4096)]
        self.assertEqual(need(vcpus=3, memory=5120, required=[AVX]),
                         capacity.total(group))
        self.assertEqual(need(vcpus=2, memory=4096, required=[AVX]),
                         capacity.largest(group))
        self.assertEqual(['5120 MiB of memory', '3 cpus'],
                         capacity.words(capacity.total(group)))
        self.assertEqual(['2 of CUSTOM_FPGA'], capacity.words(
            capacity.Need({'CUSTOM_FPGA': 2})))

    def test_all_that_is_forbidden_to_a_group(self):
        group = [need(forbidden=['CUSTOM_SLOW']), need(forbidden=[AVX])]
        for its in (capacity.total(group), capacity.largest(group)):
            self.assertEqual({'CUSTOM_SLOW', AVX}, its.forbidden)

    def test_smallest(self):
        self.assertEqual(
            capacity.Need({'VCPU': 1, 'MEMORY_MB': 512}),
            capacity.smallest(iter([
                need(vcpus=2, memory=512, required=[AVX]),
                need(vcpus=1, memory=4096, forbidden=['CUSTOM_SLOW']),
                capacity.Need({'VCPU': 3, 'MEMORY_MB': 600, 'DISK_GB': 1})])))

    def test_size(self):
        self.assertEqual((1024, 2, 0), capacity.size(need(vcpus=2)))
        self.assertEqual((0, 0, 5), capacity.size(
            capacity.Need({'DISK_GB': 5, 'CUSTOM_FPGA': 2})))

    def test_without(self):
        there = host(vcpus=(2, 4, 8, 4), memory=(4096, 512), traits=[AVX])
        for wanted, vcpus, memory in (
                # What is not needed stays.
                (capacity.Need({'VCPU': 2}), (0, 4, 8, 4), (4096, 512)),
                # The first provider with enough gives all.
                (need(vcpus=3), (2, 1, 8, 4), (3072, 512)),
                (need(vcpus=8), (2, 4, 0, 4), (3072, 512)),
                (need(vcpus=9), (2, 4, 8, 4), (3072, 512))):
            self.assertEqual(host(vcpus, memory, [AVX]),
                             capacity.without(there, wanted))

    def test_left(self):
        self.assertEqual(
            ['0 cpus are left', '1 cpu is left', '2 of VGPU are left'],
            [capacity.left(*each) for each in (
                ('VCPU', 0), ('VCPU', 1), ('VGPU', 2))])
