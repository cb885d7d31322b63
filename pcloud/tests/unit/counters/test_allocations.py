# SPDX-License-Identifier: Apache-2.0

from unittest import mock

import ddt
from oslo_config import cfg
from oslotest import base

from pcloud import conf
from pcloud.counters import allocations
from pcloud import exception


@ddt.ddt
class ReasonTest(base.BaseTestCase):

    @ddt.unpack
    @ddt.data(
        (exception.NoFreeHost(host_flavor='f', zone=''), 'no_free_host'),
        (exception.HostsSettling(host_flavor='f', zone='', count=1),
         'settling'),
        (exception.HostsContended(host_flavor='f', zone='', attempts=5),
         'contended'),
        (exception.QuotaExceeded(requested=1, in_use=1, limit=1), 'quota'),
        (exception.OthersWaiting(count=1, host_flavor='a', zone=''),
         'others_waiting'),
        (exception.NothingFits(zone='', reasons=''), 'nothing_fits'),
        (exception.HostNameInUse(name='a', pcloud='p'), 'name_in_use'),
        (exception.OutcomeUnknown(), 'outcome_unknown'),
        (exception.PlacementSilent(), 'unavailable'),
        (exception.Unavailable(), 'unavailable'),
        (exception.PcloudNotFound(pcloud='p'), 'other'),
        (ValueError('secret'), 'error'))
    def test_table(self, error, reason):
        self.assertEqual(reason, allocations.reason_of(error))

    def test_reasons_are_few(self):
        self.assertEqual(14, len(set(allocations.REASONS)))


class AllocationTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        conf.register_opts(cfg.CONF)
        self.added = {}
        for counter in allocations.COUNTERS:
            self.added[counter.name] = []
        patcher = mock.patch(
            'pcloud.counters.counter_files.Counter.add', autospec=True,
            side_effect=self._add)
        patcher.start()
        self.addCleanup(patcher.stop)

    def _add(self, counter, values, amount=1):
        self.added[counter.name].append((*values, amount))

    def _added(self, counter):
        return self.added[counter.name]

    def test_flavor_of_a_request_with_constraints(self):
        with allocations.allocation('', 2) as counted:
            counted.host_flavor = 'gpu'
        self.assertEqual([('gpu', 'call', 2)],
                         self._added(allocations.ALLOCATIONS))

    def test_error_goes_on(self):
        error = exception.NoFreeHost(host_flavor='gpu', zone='')
        try:
            with allocations.allocation('gpu', 1):
                raise error
        except exception.NoFreeHost as found:
            self.assertIs(error, found)
        self.assertEqual([('gpu', 'no_free_host', 1)],
                         self._added(allocations.REFUSALS))
        self.assertEqual([], self._added(allocations.ALLOCATIONS))

    def test_whoever_asks_chooses_no_label(self):
        allocations.refused('chosen', exception.HostFlavorNotFound(
            host_flavor='chosen'))
        self.assertEqual([('', 'other', 1)], self._added(allocations.REFUSALS))


class ZerosTest(base.BaseTestCase):

    def test_zeros(self):
        self.assertEqual(
            [(flavor, cause) for flavor in ('a', 'b')
             for cause in ('call', 'growth', 'maintenance', 'recovery',
                           'waiting')],
            list(allocations.zeros(allocations.ALLOCATIONS, ['a', 'b'])))
        self.assertEqual(
            [('a',)], list(allocations.zeros(allocations.RETRIES, ['a'])))
        self.assertEqual(
            [(flavor, reason) for flavor in ('', 'a')
             for reason in allocations.REASONS],
            list(allocations.zeros(allocations.REFUSALS, ['a'])))
