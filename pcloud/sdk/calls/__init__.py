# SPDX-License-Identifier: Apache-2.0

"""The calls of the proxy, a module for each noun."""
