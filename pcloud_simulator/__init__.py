# SPDX-License-Identifier: Apache-2.0

"""Weeks of a cloud in a minute: which hosts do servers end up on?"""
