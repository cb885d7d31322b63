# SPDX-License-Identifier: Apache-2.0

"""A model of a control plane: events, queues and limits, without any Nova."""
