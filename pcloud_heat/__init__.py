# SPDX-License-Identifier: Apache-2.0

"""Pclouds as resources of Heat's templates.

heat-engine loads the folder `plugins`, which ``plugin_dirs`` of heat.conf has
to name.
"""
