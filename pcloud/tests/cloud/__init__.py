# SPDX-License-Identifier: Apache-2.0

"""Tests of a whole cloud from outside, as its users reach the cloud.

``OS_CLOUD`` names the cloud, `options` what else may be chosen. Without
``OS_CLOUD`` the tests start a cloud of separate processes, for which they need
a MariaDB and a RabbitMQ, and make databases and virtual hosts there.
``PCLOUD_TEST_DATABASE`` and ``PCLOUD_TEST_MESSAGING`` are the URLs; the
defaults are the usual ports of this machine.
"""
