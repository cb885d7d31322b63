# SPDX-License-Identifier: Apache-2.0

"""The words of the API, as users of the pages read them."""
