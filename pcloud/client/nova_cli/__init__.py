# SPDX-License-Identifier: Apache-2.0

"""The commands of the nova command line, a file a noun."""
