# SPDX-License-Identifier: Apache-2.0

"""What the panels have in common."""

import horizon

from pcloud_dashboard import api


class PcloudPanel(horizon.Panel):
    """A panel that is hidden in a cloud without Pclouds."""

    permissions = ('openstack.services.compute',)

    def allowed(self, context: dict) -> bool:
        """Return whether the user sees the panel."""
        return super().allowed(context) and api.has_pclouds(
            context['request'])
