# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.


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
