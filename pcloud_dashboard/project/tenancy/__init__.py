# SPDX-License-Identifier: Apache-2.0

"""The projects that may start servers in a Pcloud, and what they use."""
