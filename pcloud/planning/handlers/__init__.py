# SPDX-License-Identifier: Apache-2.0

"""The handlers of the wing's calls, with their schemas and views."""
