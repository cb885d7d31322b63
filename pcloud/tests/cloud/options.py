# SPDX-License-Identifier: Apache-2.0

"""What the environment says about the cloud under test.

``OS_CLOUD`` names a cloud of ``clouds.yaml``, as for every client of
OpenStack; without ``OS_CLOUD`` the tests start a cloud of their own. The
other variables are choices that the tests otherwise leave to the cloud:

``PCLOUD_TEST_IMAGE``, ``PCLOUD_TEST_FLAVOR``
    The name or id of the image and of the flavor of the tests' servers; the
    smallest public ones by default.
``PCLOUD_TEST_NETWORK``
    The name or id of the network of the tests' servers; ``none`` by default.
``PCLOUD_TEST_COMPUTES``
    The compute hosts that the tests may take, separated by commas; by default
    any that is empty.
``PCLOUD_TEST_FILTERS``
    The optional filters that nova-scheduler has, separated by commas; all by
    default. The tests of a filter that is not named are skipped.
"""

import os

NO_NETWORK = 'none'
_FILTERS = 'AffinityFilter,ConstraintsFilter,LocalityFilter,ColocationFilter'


def cloud() -> str | None:
    """Return the name of an existing cloud; None for a cloud of our own."""
    return os.environ.get('OS_CLOUD') or None


def image() -> str | None:
    """Return the name or id of the chosen image; None for any image."""
    return os.environ.get('PCLOUD_TEST_IMAGE') or None


def flavor() -> str | None:
    """Return the name or id of the chosen flavor; None for any flavor."""
    return os.environ.get('PCLOUD_TEST_FLAVOR') or None


def network() -> str:
    """Return the name or id of the chosen network, or `NO_NETWORK`."""
    return os.environ.get('PCLOUD_TEST_NETWORK') or NO_NETWORK


def computes() -> frozenset[str] | None:
    """Return the hosts that the tests may take; None for any host."""
    chosen = _names(os.environ.get('PCLOUD_TEST_COMPUTES', ''))
    return chosen or None


def filters() -> frozenset[str]:
    """Return the names of the optional filters that the cloud has."""
    return _names(os.environ.get('PCLOUD_TEST_FILTERS', _FILTERS))


def _names(text: str) -> frozenset[str]:
    return frozenset(text.replace(',', ' ').split())
