# SPDX-License-Identifier: Apache-2.0

"""The weighers by attributes, through Nova's own weight handler."""

import datetime

import ddt
from nova import conf as nova_conf
from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import weights
from oslo_config import fixture
from oslo_utils import fixture as utils_fixture
import testtools

from pcloud.scheduler import weights as ours

NOW = datetime.datetime(2026, 12, 1, tzinfo=datetime.UTC)
OPTIONS = {'PlatformWeigher': 'platform_weight_multiplier',
           'RebootWeigher': 'reboot_weight_multiplier',
           'HardwareClassWeigher': 'hardware_class_weight_multiplier'}


@ddt.ddt
class WeightsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()
        self.conf = self.useFixture(fixture.Config(nova_conf.CONF))
        nova_conf.CONF([], project='nova', default_config_files=[])
        self.useFixture(utils_fixture.TimeFixture(NOW))

    def _weighed(self, name, values, **metadata):
        """Return the weight of each host, multiplied, in their order."""
        weigher, = (each() for each in ours.all_weighers()
                    if each.__name__ == name)
        hosts = [_host(f'h{number}', {f'pcloud:attr:{weigher.attribute}':
                                      value} if value else {}, metadata)
                 for number, value in enumerate(values)]
        weighed = weights.HostWeightHandler().get_weighed_objects(
            [weigher], hosts, objects.RequestSpec())
        found = {each.obj.host: round(each.weight, 4) for each in weighed}
        return [found[host.host] for host in hosts]

    @ddt.data(
        ('PlatformWeigher', ['2.9', None, '2.10', '2.9.1'], [0, 0, 1, .5]),
        ('PlatformWeigher', ['20260101T000000Z', '20260131T000000Z',
                             '20260116T000000Z', '1.0'], [0, 1, .5, 0]),
        ('RebootWeigher', ['2026-12-30T00:00:00Z', '2026-12-25T00:00:00Z',
                           '2026-12-20T00:00:00Z', '2026-12-03T00:00:00Z',
                           None, '2026-11-30'],
         [.3333, .3333, .1667, 0, .5, .5]),
        # One date in the far future does not make all others alike.
        ('RebootWeigher', ['2999-01-01', '2026-12-20', '2026-12-10'],
         [.5, .25, 0]),
        ('HardwareClassWeigher', ['1', '5', '4', None, '-3'],
         [.25, .5, .4375, 0, 0]))
    @ddt.unpack
    def test_scores(self, name, values, expected):
        # Of hardware none is as bad as the lowest.
        self.assertEqual(expected, self._weighed(name, values))

    @ddt.data(*OPTIONS)
    def test_negative_turns_it_round(self, name):
        values = ['20270101T000000Z', '20280101T000000Z']
        if name == 'HardwareClassWeigher':
            values = ['1', '2']
        self.conf.config(group='pcloud', **{OPTIONS[name]: 3.0})
        self.assertEqual([0, 3], self._weighed(name, values))
        self.conf.config(group='pcloud', **{OPTIONS[name]: -3.0})
        self.assertEqual([0, -3], self._weighed(name, values))
        # An aggregate's metadata win over the option.
        self.assertEqual([0, 7], self._weighed(
            name, values, **{OPTIONS[name]: '7'}))

    @ddt.data(*OPTIONS)
    def test_nothing_changes_where_all_are_alike(self, name):
        for values in (['20270101T000000Z'], [None], [None] * 3, ['?', '!'],
                       ['20270101T000000Z'] * 3, ['7'] * 3):
            self.assertEqual([0] * len(values), self._weighed(name, values))


def _host(name, attributes, metadata):
    host = host_manager.HostState(name, name, 'cell')
    host.aggregates = [objects.Aggregate(metadata=attributes),
                       objects.Aggregate(metadata=metadata)]
    return host
