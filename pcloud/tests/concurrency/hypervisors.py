# SPDX-License-Identifier: Apache-2.0

"""Fake hypervisors of compute services in separate processes."""

from nova.virt import fake
from nova.virt import node

from pcloud.tests.support import driver


class SteadyDriver(driver.LateDriver):
    """Builds and resizes are slow, and few builds and resizes fail late."""

    failing = 0.05


class LastingDriver(SteadyDriver):
    """The only host of a process, with one node however often it starts."""

    def get_nodenames_by_uuid(self, refresh=False):
        return {node.get_local_node_uuid(): name
                for name in self.get_available_nodes()}

    def get_available_resource(self, nodename):
        return {**super().get_available_resource(nodename),
                'uuid': node.get_local_node_uuid()}


def load() -> None:
    """Let ``[DEFAULT] compute_driver`` name the drivers, as ``fake.NAME``."""
    # Nova loads drivers from below nova.virt only.
    for each in (driver.LateDriver, SteadyDriver, LastingDriver):
        setattr(fake, each.__name__, each)
