# SPDX-License-Identifier: Apache-2.0

"""The resources as the API shows them, by the caller: a module a resource."""
