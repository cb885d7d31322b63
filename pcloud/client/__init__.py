# SPDX-License-Identifier: Apache-2.0

"""The Python client and the command lines of nova and openstack."""
