# SPDX-License-Identifier: Apache-2.0

"""The folder that ``plugin_dirs`` of heat.conf names."""
