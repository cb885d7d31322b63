# SPDX-License-Identifier: Apache-2.0

"""A server stays on the same side of the border for life."""

from unittest import mock

from nova.virt import fake

from pcloud.tests.functional.quick import test_lifecycle
from pcloud.tests.support import base

COLD = test_lifecycle.COLD
EVACUATE = test_lifecycle.EVACUATE

UNSHELVE = {'unshelve': None}


class NoRoomTest(test_lifecycle.LifecycleTestCase):
    """The only capacity is on the wrong side, and no server goes there."""

    def furnish(self):
        super().furnish()
        self.servers = []
        for hint, side in ((self.hint, self.own), (None, self.ordinary)):
            servers = [self.boot(self.alice, hint, flavorRef=self.half)
                       for _ in side]
            self.assertEqual(side, {self.host_of(s) for s in servers})
            self.servers.append(servers[0])

    def test_moves(self):
        larger = self._create_flavor(vcpu=2, memory_mb=5001, disk=1)
        for server in self.servers:
            for body in (test_lifecycle.COLD, test_lifecycle.LIVE,
                         {'resize': {'flavorRef': larger}}):
                self.stays(server, body)
            self.evacuation_stays(server)

    def test_unshelving(self):
        for server, hint in zip(self.servers, (self.hint, None)):
            self.shelve(server)
            filler = self.boot(self.alice, hint, flavorRef=self.half)
            self.stays(server, UNSHELVE)
            room = self.host_of(filler)
            self._delete_server(filler)
            self.unshelve(server, [room])


class TargetTest(test_lifecycle.LifecycleTestCase):
    """A move to a named host on the wrong side is refused (no force)."""

    def test_cold_migration(self):
        for server, side, wrong in self.sides():
            for host in wrong:
                self.stays(server, {'migrate': {'host': host}})
            target = self.other(server, side)
            self.move(server, {'migrate': {'host': target}}, target,
                      'VERIFY_RESIZE')

    def test_live_migration(self):
        def body(host):
            return {'os-migrateLive': {
                'host': host, 'block_migration': 'auto'}}

        for server, side, wrong in self.sides():
            for host in wrong:
                self.stays(server, body(host))
            target = self.other(server, side)
            self.live_migrate(server, target, body(target))

    def test_evacuation(self):
        for server, side, wrong in self.sides():
            for host in wrong:
                self.evacuation_stays(server, {'evacuate': {'host': host}})
            target = self.other(server, side)
            self.set_down(self.host_of(server))
            self.move(server, {'evacuate': {'host': target}}, target,
                      'SHUTOFF')

    def test_unshelving(self):
        for server, side, wrong in self.sides():
            self.shelve(server)
            for host in wrong:
                self.stays(server, {'unshelve': {'host': host}})
            target = max(side)
            self.move(server, {'unshelve': {'host': target}}, target)

    def test_boot(self):
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.CAROL}')
        for hint, side, wrong in (
                (self.hint, self.own,
                 [self.off, self.foreign, self.free, 'node-6']),
                (None, self.ordinary,
                 [*self.own, self.off, self.foreign, self.free])):
            for host in wrong:
                server = self.boot(self.admin, hint, 'ERROR', host=host)
                self.assertIsNone(self.host_of(server))
            for host in side:
                server = self.boot(self.admin, hint, host=host)
                self.assertEqual(host, self.host_of(server))


class AfterwardsTest(test_lifecycle.LifecycleTestCase):
    """The rules at the time of a move hold, not the rules at the start."""

    def _nothing_moves(self, server, flavor='2'):
        for body in (test_lifecycle.COLD, test_lifecycle.LIVE,
                     {'resize': {'flavorRef': flavor}},
                     {'migrate': {'host': self.other(server, self.own)}}):
            self.stays(server, body)
        self.evacuation_stays(server)
        self.shelve(server)

    def _unshelvings(self):
        """Return an unshelve to any host, and an unshelve to a host."""
        return UNSHELVE, {'unshelve': {'host': min(self.own)}}

    def test_tenant_that_was_removed(self):
        path = f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}'
        self.alice.call_json('PUT', path)
        server = self.boot(self.bob, self.hint)
        self.live_migrate(server, self.other(server, self.own))
        self.alice.call_json('DELETE', path)
        self._nothing_moves(server)
        for body in self._unshelvings():
            response = self.admin.call(
                'POST', f'/servers/{server["id"]}/action', body)
            self.assertEqual(409, response.status_code, response.text)
        self.alice.call_json('PUT', path)
        self.unshelve(server, self.own)

    def test_disabled_hosts(self):
        server = self.boot(self.alice, self.hint)
        self.live_migrate(server, self.other(server, self.own))
        for name in ('a', 'b'):
            self.set_state(name, 'disabled')
        self._nothing_moves(server)
        for body in self._unshelvings():
            self.stays(server, body)
        self.set_state('off', 'enabled')
        self.move(server, UNSHELVE, self.off)

    def test_host_that_left_the_pcloud(self):
        server = self.boot(self.alice, self.hint)
        left = self.other(server, self.own)
        name = next(host['name'] for host in self.admin.get_json(
            f'/os-pclouds/{self.pcloud}/hosts')['hosts']
            if host['hypervisor_hostname'].startswith(left))
        self.set_state(name, 'disabled')
        self.alice.call_json(
            'DELETE', f'/os-pclouds/{self.pcloud}/hosts/{name}')
        self._nothing_moves_to(server, left)

    def _nothing_moves_to(self, server, host):
        for body in (test_lifecycle.COLD, test_lifecycle.LIVE,
                     {'migrate': {'host': host}}):
            self.stays(server, body)
        self.evacuation_stays(server, {'evacuate': {'host': host}})

    def test_host_that_came_into_the_pool(self):
        server = self.boot(self.alice)
        came = self.other(server, self.ordinary)
        self.disable_service(came)
        self.admin.call_json('POST', '/os-host-flavors/gpu/hosts', {
            'host': {'host': came}})
        self._nothing_moves_to(server, came)


class StayTest(test_lifecycle.LifecycleTestCase):
    """There is capacity everywhere, and most capacity is on the wrong side."""

    def test_cold_migration(self):
        for server, side, _ in self.sides():
            for ending in ('confirmResize', 'revertResize', 'confirmResize'):
                source, target = (self.host_of(server),
                                  self.other(server, side))
                self.move(server, COLD, target, 'VERIFY_RESIZE')
                self.move(server, {ending: None},
                          source if ending == 'revertResize' else target)

    def test_resize(self):
        for server, side, _ in self.sides():
            for flavor, ending in ((self.half, 'revertResize'),
                                   (self.half, 'confirmResize'),
                                   ('1', 'confirmResize')):
                source, target = (self.host_of(server),
                                  self.other(server, side))
                self.move(server, {'resize': {'flavorRef': flavor}}, target,
                          'VERIFY_RESIZE')
                self.move(server, {ending: None},
                          source if ending == 'revertResize' else target)

    def test_live_migration(self):
        for server, side, _ in self.sides():
            for _ in range(3):
                self.live_migrate(server, self.other(server, side))

    def test_evacuation(self):
        """Also when the second host of its side breaks down too."""
        for server, side, _ in self.sides():
            target = self.other(server, side)
            self.set_down(self.host_of(server))
            self.move(server, EVACUATE, target, 'SHUTOFF')
            self._wait_for_migration_status(server, ['done'])
            self.set_down(target)
            self.stays(server, EVACUATE)

    def test_unshelving(self):
        for server, side, _ in self.sides():
            for where in ({}, {'availability_zone': 'az1'}, {},
                          {'availability_zone': None}):
                self.shelve(server)
                self.unshelve(server, side, **where)

    def test_multi_create(self):
        for hint, side in ((self.hint, self.own), (None, self.ordinary)):
            self.boot(self.alice, hint, min_count=5, max_count=5)
            for server in self.alice.get_servers():
                self._wait_for_state_change(server, 'ACTIVE')
                self.assertIn(self.host_of(server), side)
            for server in self.alice.get_servers():
                self._delete_server(server)

    def test_multi_create_of_more_than_fit(self):
        for hint in (self.hint, None):
            self.boot(self.alice, hint, 'ERROR', min_count=3, max_count=3,
                      flavorRef=self.half)
            for server in self.alice.get_servers():
                self._wait_for_state_change(server, 'ERROR')
                self.assertEqual((None, set()), self._place(server))

    def test_second_attempt_of_a_build(self):
        """Another host is taken outside of Pclouds, and none in a Pcloud."""
        spawn = fake.FakeDriver.spawn
        for hint, status in ((self.hint, 'ERROR'), (None, 'ACTIVE')):
            failed = []

            def fail_once(driver, *args, **kwargs):
                if not failed:
                    failed.append(driver._host)
                    raise fake.exception.ComputeResourcesUnavailable(
                        reason='test')
                return spawn(driver, *args, **kwargs)

            with mock.patch.object(fake.FakeDriver, 'spawn', fail_once):
                server = self.boot(self.alice, hint, status)
            if hint is None:
                self.assertEqual(
                    self.ordinary, {*failed, self.host_of(server)})
            else:
                self.assertLessEqual({*failed}, self.own)
                self.assertIn('Exhausted all hosts', self.fault(server))
                self.assertEqual((None, set()), self._place(server))
