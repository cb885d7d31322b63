# SPDX-License-Identifier: Apache-2.0

"""The deployment engine, which starts and removes whole services."""
