# SPDX-License-Identifier: Apache-2.0

"""The resources of the Pcloud API, in the style of openstacksdk."""
