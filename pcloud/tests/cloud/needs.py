# SPDX-License-Identifier: Apache-2.0

"""What a test needs of the cloud under test, or else is skipped."""

from collections.abc import Callable
import unittest

from pcloud.tests.cloud import options


def own_cloud(reason: str) -> Callable:
    """Return a decorator: a cloud of somebody else is not for the test.

    :param reason: what the test does that needs a cloud of its own
    """
    return unittest.skipIf(
        options.cloud() is not None,
        f'{reason}: not on the cloud of OS_CLOUD, only on one of its own')


def filter_enabled(name: str) -> Callable:
    """Return a decorator: nova-scheduler has the filter."""
    return unittest.skipUnless(
        name in options.filters(), f'PCLOUD_TEST_FILTERS does not name {name}')
