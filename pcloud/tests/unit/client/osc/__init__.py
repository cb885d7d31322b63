# SPDX-License-Identifier: Apache-2.0

"""Tests of the openstack commands, through the shell of openstack."""
