# SPDX-License-Identifier: Apache-2.0

"""Whether servers fit that need NUMA cells, PCI devices or providers."""

from pcloud.tests.functional.quick import test_host_parts


class MoreStartsTest(test_host_parts.StartTest):
    """The same, many times."""

    seeds = range(test_host_parts.BUNDLES, test_host_parts.MORE_BUNDLES)
