# SPDX-License-Identifier: Apache-2.0

"""The head of a Pcloud's page: how full it is, and what is wrong."""
