# SPDX-License-Identifier: Apache-2.0

"""Project > Compute > Pclouds."""
