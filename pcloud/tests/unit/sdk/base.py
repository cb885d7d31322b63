# SPDX-License-Identifier: Apache-2.0

"""A connection of openstacksdk to the fake cloud of the client's tests."""

from openstack import config as openstack_config
from openstack import connection

from pcloud import sdk
from pcloud.tests.unit.client import base


class SdkTestCase(base.CloudTestCase):
    """The calls of `conn.pcloud` have canned answers."""

    def setUp(self):
        super().setUp()
        self.conn = self.connection()
        self.pcloud = sdk.attach(self.conn)

    def connection(self, **options):
        """Return a connection of a user who has logged in."""
        region = openstack_config.cloud_region.from_session(
            self.session(), region_name='RegionOne')
        return connection.Connection(config=region, **options)
