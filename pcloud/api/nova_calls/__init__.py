# SPDX-License-Identifier: Apache-2.0

"""Calls of Nova's own API that Pcloud checks before Nova handles the calls."""
