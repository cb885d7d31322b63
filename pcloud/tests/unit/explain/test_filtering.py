# SPDX-License-Identifier: Apache-2.0

"""The scheduler's filters, and why hosts fall at them."""

import datetime

import ddt
from nova import conf as nova_conf
from nova import exception as nova_exception
from nova import objects
from nova.scheduler import filters as nova_filters
from nova.scheduler import host_manager
from oslo_config import fixture
from oslo_utils import fixture as utils_fixture
from oslo_utils import timeutils
import testtools

from pcloud.explain import filtering
from pcloud.scheduler import filters

NOW = datetime.datetime(2026, 12, 1, tzinfo=datetime.UTC)
LONG_AGO = datetime.datetime(2025, 11, 30, tzinfo=datetime.UTC)


class EvenFilter(nova_filters.BaseHostFilter):
    """A filter of somebody else."""

    def host_passes(self, host_state, spec):
        return int(host_state.host[1:]) % 2 == 0


class LastFilter(nova_filters.BaseHostFilter):
    """One that ends all."""

    def filter_all(self, host_states, spec):
        return None


class RefusingFilter(nova_filters.BaseHostFilter):
    def filter_all(self, host_states, spec):
        raise nova_exception.NoValidHost(reason='Not today.')


class BrokenFilter(nova_filters.BaseHostFilter):
    def host_passes(self, host_state, spec):
        raise KeyError('secret')


class StubbornFilter(nova_filters.BaseHostFilter):
    def __init__(self):
        raise RuntimeError('no licence')


def _host(name, service=None, **metadata):
    made = host_manager.HostState(name, f'{name}.hv', 'cell')
    made.service = {'host': name, 'binary': 'nova-compute',
                    'topic': 'compute', 'disabled': False,
                    'disabled_reason': None, 'forced_down': False,
                    'last_seen_up': timeutils.utcnow(with_timezone=True),
                    **(service or {})}
    made.aggregates = [objects.Aggregate(
        name='rack', hosts=[name], metadata=metadata)] if metadata else []
    return made


class _TestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()
        self.conf = self.useFixture(fixture.Config(nova_conf.CONF))
        nova_conf.CONF([], project='nova', default_config_files=[])


@ddt.ddt
class LoadTest(_TestCase):

    def _load(self, enabled, *available):
        self.conf.config(group='filter_scheduler', enabled_filters=enabled,
                         available_filters=available)
        return filtering.load()

    def test_in_their_order(self):
        enabled = ['RebootFilter', 'ComputeFilter', 'EvenFilter']
        found = self._load(
            enabled, 'nova.scheduler.filters.all_filters',
            'pcloud.scheduler.filters.all_filters', f'{__name__}.EvenFilter')
        self.assertEqual(enabled, list(map(filtering.name, found.filters)))
        self.assertEqual({}, found.missing)
        self.assertEqual([True, True, False],
                         list(map(filtering.is_explained, found.filters)))

    def test_every_filter_of_ours_is_explained(self):
        for each in filters.all_filters():
            self.assertTrue(filtering.is_explained(each()), each)

    def test_not_available(self):
        found = self._load(['OddFilter', 'EvenFilter'],
                           f'{__name__}.EvenFilter')
        self.assertEqual(['EvenFilter'],
                         list(map(filtering.name, found.filters)))
        self.assertEqual({'OddFilter': 'it is in none of available_filters'},
                         found.missing)

    @ddt.data('no.such.module', 'pcloud.conf.options', f'{__name__}.Nothing')
    def test_not_to_be_loaded(self, bad):
        found = self._load(['OddFilter', 'EvenFilter'],
                           f'{__name__}.EvenFilter', bad)
        self.assertEqual(['EvenFilter'],
                         list(map(filtering.name, found.filters)))
        self.assertEqual(['OddFilter'], list(found.missing))
        self.assertIn(f'{bad} cannot be loaded: ', found.missing['OddFilter'])

    def test_not_to_be_made(self):
        found = self._load(
            ['StubbornFilter', 'EvenFilter'], f'{__name__}.EvenFilter',
            f'{__name__}.StubbornFilter')
        self.assertEqual(['EvenFilter'],
                         list(map(filtering.name, found.filters)))
        self.assertEqual({'StubbornFilter': 'no licence'}, found.missing)


class OutcomeTest(_TestCase):

    def _asked(self, filter_, *hosts):
        spec = objects.RequestSpec(scheduler_hints={}, num_instances=1)
        found = filtering.outcome(filter_, hosts, spec)
        self.assertEqual(type(filter_).__name__, found.rule)
        self.assertEqual({*hosts}, {
            *found.hosts, *(each.host_state for each in found.dropped)})
        return found

    def _told(self, filter_, *hosts):
        """Return who is kept, and of the others text, detail and tenant's."""
        found = self._asked(filter_, *hosts)
        return [each.host for each in found.hosts], {
            each.host_state.host: each.reason and (
                each.reason.text, each.reason.detail, each.reason.tenant_text)
            for each in found.dropped}

    def test_a_foreign_filter(self):
        self.assertEqual((['h2'], {'h1': None, 'h3': None}), self._told(
            EvenFilter(), _host('h1'), _host('h2'), _host('h3')))

    def test_a_filter_that_ends_all(self):
        self.assertEqual(([], {'h1': None}),
                         self._told(LastFilter(), _host('h1')))

    def test_a_filter_that_refuses(self):
        self.assertEqual(
            ([], {'h1': ('Not today.', '', 'Not today.')}),
            self._told(RefusingFilter(), _host('h1')))
        found = self._asked(RefusingFilter(), _host('h1'))
        self.assertEqual('Not today.', found.refusal.text)

    def test_a_filter_that_fails(self):
        self.assertEqual(
            ([], {'h1': ("the filter failed: KeyError: 'secret'", '',
                         'the filter failed')}),
            self._told(BrokenFilter(), _host('h1')))

    def test_no_host(self):
        self.assertEqual(([], {}), self._told(EvenFilter()))

    def test_compute_filter(self):
        self.conf.config(group='filter_scheduler',
                         available_filters=[
                             'nova.scheduler.filters.all_filters'],
                         enabled_filters=['ComputeFilter'])
        filter_, = filtering.load().filters
        disabled, down = ('its compute service is disabled',
                          'its compute service is down')
        self.assertEqual((['h0'], {
            'h1': (disabled, 'a new disk', disabled),
            'h2': (disabled, '', disabled),
            'h3': (down, 'it is forced down', down),
            'h4': (down, 'last heard of at 2025-11-30T00:00:00Z', down),
        }), self._told(
            filter_, _host('h0'),
            _host('h1', {'disabled': True, 'disabled_reason': 'a new disk'}),
            _host('h2', {'disabled': True, 'forced_down': True}),
            _host('h3', {'forced_down': True}),
            _host('h4', {'last_seen_up': LONG_AGO})))

    def test_reboot_filter(self):
        self.useFixture(utils_fixture.TimeFixture(NOW))
        self.conf.config(group='pcloud', reboot_filter_days=7)
        key = 'pcloud:attr:next_reboot'
        text = 'it is rebooted within 7 days'
        self.assertEqual(
            (['h0', 'h1', 'h2'],
             {'h3': (text, 'at 2026-12-05T12:00:00Z', text)}),
            self._told(
                filters.reboot.RebootFilter(), _host('h0'),
                _host('h1', **{key: '2026-12-09T00:00:00Z'}),
                _host('h2', **{key: '2026-11-09T00:00:00Z'}),
                _host('h3', **{key: '2026-12-05T12:00:00Z'})))

    def test_hosts_of_which_a_filter_knows_nothing(self):
        host, other = _host('h0'), _host('h1')
        other.total_usable_ram_mb, other.free_ram_mb = 8192, 8000
        spec = objects.RequestSpec(
            scheduler_hints={}, num_instances=1,
            flavor=objects.Flavor(memory_mb=512))
        for hosts, expected in (([host, other], [host]), ([other], [])):
            found = filtering.outcome(
                filters.free_memory.FreeMemoryFilter(), hosts, spec)
            self.assertEqual(hosts, found.hosts)
            self.assertEqual(
                expected, [each.host_state for each in found.unknown])
