# SPDX-License-Identifier: Apache-2.0

"""Servers that are moved so that hosts become empty, or others fit."""


from nova import exception as nova_exception

from pcloud import names
from pcloud.tests.functional.quick import test_moving

FREE = 'goal=free_hosts'
# What Nova answers while a server is busy.
BUSY = nova_exception.InstanceInvalidState(
    instance_uuid='x', attr='task_state', state='x', method='x')
UNKNOWN = '11111111-2222-3333-4444-555555555555'


class RebalanceTestCase(test_moving.MovingTestCase):
    """Every host has 7680 MiB to give. Only two steps make a empty.

    ====  ======================  ======
    host  servers                 free
    ====  ======================  ======
    a     large (6144)            1536
    b     small (2048) and        5120
          tiny (512), locked
    c     middle (4096), locked   3584
    ====  ======================  ======
    """

    def furnish(self):
        super().furnish()
        for name, memory_mb in (('tiny', 512), ('small', 2048),
                                ('middle', 4096), ('large', 6144)):
            self.make_flavor(name, memory_mb=memory_mb)

    def setUp(self):
        super().setUp()
        self.rebalance = f'/os-pclouds/{self.pcloud}/rebalance'
        self.large = self.put_on('a', 'large')
        self.small = self.put_on('b', 'small')
        for name, flavor in (('b', 'tiny'), ('c', 'middle')):
            self.act(self.put_on(name, flavor), {'lock': None})
        self.only('a', 'b', 'c')

    def put_on(self, name, flavor, **more):
        """Start a server on a host."""
        self.only(name)
        return self.boot(self.alice, {'pcloud': self.pcloud},
                         flavorRef=flavor, **more)

    def plan(self, query=FREE):
        return self.alice.get_json(
            f'{self.rebalance}?{query}')['rebalance']

    def begin(self, plan, user=None, **more):
        """Return the answer to a POST of a plan."""
        return (user or self.alice).call('POST', self.rebalance, {
            'rebalance': {'valid_for': plan['valid_for'],
                          **(more or {'goal': 'free_hosts'})}})

    def begun(self, plan, **more):
        """Begin a rebalance, have a worker look; return the answer."""
        answer = self.begin(plan, **more)
        self.assertEqual(202, answer.status_code, answer.text)
        self.work()
        return answer.json()['rebalance']

    def kept(self):
        """Return what is kept of the rebalance."""
        return {key: value for key, value in self.metadata().items()
                if key.startswith(names.REBALANCE_PREFIX)}

    def work_until_done(self):
        def done():
            self.work()
            self.assertEqual({}, self.kept())

        self.wait_until(done)

    def where(self, *servers):
        return [self.name_of(server) for server in servers]

    def statuses(self, *servers):
        return [self.migrations(server) for server in servers]

    def stopped(self):
        return self.plan()['stopped']['reason']

    def rule(self, server):
        """Return the rule that keeps a server where it is, or None."""
        found = {each['server']: each['rule']
                 for each in self.plan()['pinned']}
        return found.get(server['id'])


class StickyTest(RebalanceTestCase):
    """Keys of a host go with its servers, and keep them from other hosts."""

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'AffinityFilter'],
                   group='filter_scheduler')

    def setUp(self):
        super().setUp()
        self.store = self.make_aggregate('store')
        self.admin.add_host_to_aggregate(self.store, self.real['a'])

    def mark(self, **metadata):
        """Set metadata of an aggregate of the host of a."""
        self.admin.api_post(f'/os-aggregates/{self.store}/action', {
            'set_metadata': {'metadata': {
                f'pcloud:{prefix}:store': value
                for prefix, value in metadata.items()}}})

    def test_servers_with_sticky_keys(self):
        self.assertEqual(2, len(self.plan()['moves']))
        self.mark(key='1', sticky='60')
        self.assertEqual([], self.plan()['moves'])
        self.assertEqual('placement', self.rule(self.large))
        kept = self.put_on('a', 'tiny')
        self.only('a', 'b', 'c')
        self.mark(key=None, sticky=None)
        self.assertEqual(['placement', None], [
            self.rule(server) for server in (kept, self.large)])
