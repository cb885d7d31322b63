# SPDX-License-Identifier: Apache-2.0

"""The commands of what tenants use and what projects hold."""
