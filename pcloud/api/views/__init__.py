# SPDX-License-Identifier: Apache-2.0

"""The large resources as the API shows them, by the caller.

The module of a small resource's handlers shows the resource itself.
"""
