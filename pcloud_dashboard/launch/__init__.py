# SPDX-License-Identifier: Apache-2.0

"""The step "Pcloud" of Launch Instance."""
