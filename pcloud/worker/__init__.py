# SPDX-License-Identifier: Apache-2.0

"""The worker: what is due is done, although nobody calls.

Rule: reference-worker
"""
