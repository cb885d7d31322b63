# SPDX-License-Identifier: Apache-2.0

"""The hosts of a Pcloud: what they are, and what the owner does with them."""
