# SPDX-License-Identifier: Apache-2.0

"""The worker: what is due is done without a call.

Rule: reference-worker
"""
