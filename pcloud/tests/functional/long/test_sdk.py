# SPDX-License-Identifier: Apache-2.0

"""The calls of `conn.pcloud` in front of real Nova."""

import datetime
import pathlib
import re
import textwrap

from keystoneauth1 import session as ksa_session
from openstack.config import cloud_region
from openstack import connection
from openstack import exceptions

from pcloud import sdk
from pcloud.tests.functional.quick import test_client
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

GUIDE = pathlib.Path(__file__).parents[4] / 'doc/source/user/sdk.rst'


class SdkTest(shared_cloud.SharedCloudTestCase):
    """An administrator offers hosts; Alice has a Pcloud, and lets Bob in."""

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1'}

    def furnish(self):
        super().furnish()
        self.operator = self.connect(self.admin)
        self.owner = self.connect(self.alice)
        self.tenant = self.connect(self.bob)

    def connect(self, user: base.Client) -> connection.Connection:
        """Return a connection of a user, without Keystone."""
        session = ksa_session.Session(
            test_client._InProject(self.base_url, user.project_id),
            additional_headers={
                'X-Auth-User': user.auth_user, 'X-User-Id': user.auth_user,
                'X-Auth-Project-Id': user.project_id,
                'X-Roles': ','.join(user.roles)})
        conn = connection.Connection(config=cloud_region.from_session(
            session, config={'compute_endpoint_override': self.base_url}))
        sdk.attach(conn)
        return conn

    def _offer(self, *names):
        cloud = self.operator.pcloud
        cloud.create_host_flavor(id='gold', units=2, description='big')
        for name in names:
            self.disable(name)
        return cloud.add_pool_hosts('gold', names)

    def disable(self, name):
        """Disable a compute service, as a pool asks for."""
        service, = self.operator.compute.services(
            host=name, binary='nova-compute')
        self.operator.compute.disable_service(service)

    def test_life_of_a_pcloud(self):
        self._offer('node-1', 'node-2')
        mine = self.owner.pcloud
        flavor, = mine.host_flavors()
        self.assertEqual(('gold', 2, {'az1': 2}),
                         (flavor.id, flavor.units, flavor.available))

        farm = mine.create_pcloud(name='farm')
        self.assertEqual(farm.id, mine.create_pcloud_if_absent('farm').id)
        first, second = mine.add_hosts(
            farm, 'web', 2, host_flavor='gold')
        self.assertEqual('enabled', mine.enable_host(first).state)
        self.assertEqual(
            ['web-1', 'web-2'], sorted(each.name for each in mine.hosts(farm)))
        self.assertEqual(
            (4, 2), (mine.get_quota().usage['units'],
                     mine.get_pcloud(farm).host_count))

        mine.add_tenant(farm, self.bob.project_id)
        mine.cap_tenant(farm, self.bob.project_id, max_servers=1)
        self.assertEqual(
            {self.alice.project_id: None, self.bob.project_id: 1},
            {each.id: each.max_servers for each in mine.tenants(farm)})
        self.assertEqual(farm.id, self.tenant.pcloud.find_pcloud(
            'farm', ignore_missing=False).id)
        self.assertRaises(exceptions.ForbiddenException,
                          list, self.tenant.pcloud.hosts(farm))

        server = self.boot(self.bob, {'pcloud': farm.id})
        placed, = self.tenant.pcloud.placed_servers([server['id']])
        self.assertEqual((server['id'], farm.id, None),
                         (placed.server_id, placed.pcloud['id'], placed.host))
        self.assertEqual(1, {
            each['project']: each['servers'] for each
            in mine.get_pcloud_use(farm).tenants}[self.bob.project_id])

        self.assertRaises(exceptions.ConflictException,
                          mine.delete_pcloud, farm)
        mine.drain_host(first, release=True)
        self.assertRaises(exceptions.ResourceTimeout, mine.wait_for_drain,
                          first, interval=0.1, wait=0.3)
        self.bob.delete_server(server['id'])
        self._wait_until_deleted(server)
        self.work()
        mine.wait_for_drain(first, interval=0.1)
        self.assertRaises(exceptions.NotFoundException,
                          mine.get_host, 'web-1', farm)
        mine.remove_host(second)
        mine.remove_tenant(farm, self.bob.project_id)
        mine.delete_pcloud(farm)
        self.assertEqual([], list(mine.pclouds()))

    def test_what_fits(self):
        self._offer('node-1', 'node-2')
        self.make_flavor('small', memory_mb=512)
        mine = self.owner.pcloud
        farm = mine.create_pcloud(name='farm')
        self.assertEqual(0, mine.explain(farm, 'small').fits)
        for host in mine.add_hosts(farm, 'web', 2, host_flavor='gold'):
            mine.enable_host(host)
        self.work()

        self.assertEqual(2, mine.get_room(['small'], farm, count=2).groups)
        self.assertRaises(exceptions.ForbiddenException,
                          mine.get_room, ['small'])
        self.assertGreater(mine.explain(farm, 'small').fits, 1)
        self.assertIs(True, mine.simulate(
            farm, [{'flavor': 'small', 'count': 2, 'apart': True}]).fits)
        self.assertIs(False, mine.simulate(
            farm, [{'flavor': 'small', 'count': 2, 'apart': True}],
            without=['web-1']).fits)
        self.assertEqual(2, mine.rehearse(farm).of)
        plan = mine.plan_rebalance(farm, 'free_hosts')
        self.assertEqual([], plan.moves)
        self.assertEqual([], mine.rebalance(farm, plan.valid_for).moves)
        mine.end_rebalance(farm)

    def test_waiting(self):
        self._offer('node-1')
        mine = self.owner.pcloud
        farm = mine.create_pcloud(name='farm')
        mine.add_host(farm, name='a', host_flavor='gold')
        entry = mine.add_or_wait_for_host(
            farm, name='b', host_flavor='gold', wait_until=self._in_a_day())
        self.assertEqual((1, None), (entry.position, entry.availability_zone))
        self.assertEqual([entry.id], [
            each.id for each in mine.waiting_entries(farm)])
        seen, = self.operator.pcloud.waiting_for('gold')
        self.assertEqual((entry.id, farm.id, self.alice.project_id),
                         (seen.id, seen.pcloud, seen.owner))

        self.disable('node-2')
        self.operator.pcloud.add_pool_host('gold', 'node-2')
        self.work()
        host = mine.wait_for_host(entry, interval=0.1)
        self.assertEqual(('b', 'disabled'), (host.name, host.state))
        self.assertRaises(exceptions.NotFoundException, mine.cancel_waiting,
                          entry, ignore_missing=False)

    def test_policies(self):
        mine, cloud = self.owner.pcloud, self.operator.pcloud
        farm = mine.create_pcloud(name='farm')
        self.assertIsNone(mine.get_default_pcloud().default_pcloud)
        mine.set_default_pcloud(farm, 'prefer')
        self.assertEqual(
            ({'pcloud': farm.id, 'mode': 'prefer'}, 'project'), (
                mine.get_default_pcloud().default_pcloud,
                mine.get_default_pcloud().default_pcloud_source))
        mine.update_policy('pcloud', farm.id, constraints='ram=2G')
        self.assertIn(
            {'key': 'ram', 'value': '2G', 'source': 'pcloud'},
            mine.get_effective_policy('pcloud', farm.id).effective)
        cloud.set_default_pcloud(None, scope='cloud')
        self.assertEqual('cloud', cloud.get_default_pcloud(
            'cloud').default_pcloud_source)
        cloud.delete_policy('cloud', 'default')
        self.assertRaises(exceptions.NotFoundException, cloud.get_policy,
                          'cloud', 'default')
        self.assertRaises(exceptions.ForbiddenException, mine.update_quota,
                          self.alice.project_id, 100)
        self.assertEqual(
            3, cloud.update_quota(self.alice.project_id, 3).units)
        cloud.delete_quota(self.alice.project_id)
        self.assertEqual(10, mine.get_quota().units)

    def test_operator(self):
        added = self._offer('node-1', 'node-2')
        cloud = self.operator.pcloud
        self.assertEqual(['node-1', 'node-2'],
                         sorted(each.host for each in added))
        cloud.set_attribute('rack', 'r1', ['node-1'])
        attribute, = cloud.attributes(value='r1')
        self.assertEqual(('rack', ['node-1']),
                         (attribute.name, attribute.hosts))
        self.assertEqual(
            {'node-1': {'rack': 'r1'}, 'node-2': {}},
            {each.host: each.attributes for each in cloud.pool_hosts('gold')})
        cloud.unset_attribute('rack', ['node-1'])

        kept = cloud.set_maintenance('gold', 'node-1', '2100-01-01T00:00:00Z',
                                     'disks')
        self.assertEqual('disks', kept.maintenance['reason'])
        self.assertIsNone(
            cloud.unset_maintenance('gold', kept).maintenance)
        self.assertEqual([], list(cloud.audit()))
        self.assertIn('waiting', cloud.get_api().extensions)
        self.assertEqual([], list(cloud.usages()))
        self.assertEqual(self.admin.project_id, cloud.get_usage().project_id)
        self.assertEqual([], cloud.hidden_servers())

        cloud.update_host_flavor('gold', units=3)
        self.assertRaises(exceptions.ConflictException,
                          cloud.delete_host_flavor, 'gold')
        for name in ('node-1', 'node-2'):
            cloud.remove_pool_host('gold', name)
        cloud.delete_host_flavor('gold')
        self.assertIsNone(cloud.find_host_flavor('gold'))

    def test_guide(self):
        """The programs of the guide run as the guide has them."""
        self._offer('node-1')
        start, boot, drain, leave, wait = (
            textwrap.dedent(each) for each in re.findall(
                r'\.\. code-block:: python\n\n((?:   .*\n|\n)+)',
                GUIDE.read_text()))
        world = {'conn': self.owner, 'image_id': self.glance.image1['id'],
                 'tomorrow': self._in_a_day()}
        exec(start, world)
        self.work()
        exec(boot, world)
        self.assertEqual('ACTIVE', self.owner.compute.get_server(
            world['server']).status)
        self.assertEqual('node-1', self.host_of({'id': world['server'].id}))
        exec(drain, world)
        self.work()
        exec(leave, world)
        self.assertEqual([], list(self.owner.pcloud.pclouds()))
        self.work()
        exec(wait, world)
        self.assertEqual(('db', 'disabled'), (
            world['found'].name, world['found'].state))

    @staticmethod
    def _in_a_day():
        return (datetime.datetime.now(datetime.UTC) +
                datetime.timedelta(1)).isoformat(timespec='seconds')
