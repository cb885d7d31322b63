# SPDX-License-Identifier: Apache-2.0


"""Bind every port of a sandbox's Neutron.

Neutron loads the driver by the entry point ``pcloud_sandbox``. Without a
driver that binds the port of a server, Nova gives the server up.
"""

import typing

from neutron_lib.api.definitions import portbindings
from neutron_lib import constants
from neutron_lib.plugins.ml2 import api


class PortBindingDriver(api.MechanismDriver):
    """An ML2 mechanism driver for hosts that have no real networks."""

    def initialize(self) -> None:
        """Start nothing: there is no network to prepare."""

    def bind_port(self, context: typing.Any) -> None:
        """Bind a port to the first segment of the port's network.

        The fake hypervisors plug nothing, whatever the type of interface.

        :param context: Neutron's context of the port
        """
        segment = context.segments_to_bind[0]
        context.set_binding(
            segment[api.ID], portbindings.VIF_TYPE_OTHER, {},
            constants.PORT_STATUS_ACTIVE)
