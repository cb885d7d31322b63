# SPDX-License-Identifier: Apache-2.0

"""What is free on the hosts of a Pcloud."""

import testtools

from pcloud.backend.cells import computes
from pcloud.objects import pclouds


def node(vcpus_used, memory_mb_used):
    """Return a node with 8 CPUs and 1024 MiB."""
    return computes.Node('uuid', 'name', 8, vcpus_used, 1024, memory_mb_used,
                         100, 0)


class UsagesTest(testtools.TestCase):

    def test_sums(self):
        self.assertEqual(
            pclouds.Usage(empty_hosts=1, vcpus=8 + 3, memory_mb=924 + 24,
                          servers=3),
            pclouds._usage([node(0, 100), node(5, 1000)], [0, 3]))

    def test_host_that_has_given_away_more_than_it_has(self):
        self.assertEqual(
            pclouds.Usage(empty_hosts=0, vcpus=7, memory_mb=0, servers=2),
            pclouds._usage([node(16, 2000), node(1, 1024)], [1, 1]))

    def test_no_host(self):
        self.assertEqual(pclouds.Usage(0, 0, 0, 0), pclouds._usage([], []))
