# SPDX-License-Identifier: Apache-2.0

"""Calls made up from the published description of the API."""
