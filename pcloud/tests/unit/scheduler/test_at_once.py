# SPDX-License-Identifier: Apache-2.0


"""Servers of one request, and the same servers one after the other.

Nova's own loop places servers on made-up hosts, with Pcloud's filters and
weighers. Wherever chance decides, every choice is tried: both ways have to
have the same set of possible outcomes.
"""

import collections
import contextlib
import dataclasses
import datetime
import functools
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st
import nova.conf
from nova import exception as nova_exception
from nova import objects
from nova.scheduler import filters as nova_filters
from nova.scheduler.filters import affinity_filter as affinity_filters
from nova.scheduler import host_manager
from nova.scheduler import manager
from nova.scheduler import weights as nova_weights
from oslo_config import fixture as config_fixture
from oslo_utils.fixture import uuidsentinel as uuids
from oslo_utils import timeutils
import testtools

from pcloud.backend.aggregates import sticky_copies
from pcloud.backend.cells import expected_places
from pcloud.backend.cells import servers
from pcloud import conf
from pcloud import names
from pcloud.objects.placing import host_attributes
from pcloud.objects.placing import scoped_policies
from pcloud.rules.placing import affinity
from pcloud.scheduler import affinity_scores
from pcloud.scheduler import filters
from pcloud.scheduler.filters import affinity as affinity_filter
from pcloud.scheduler import memo
from pcloud.scheduler import siblings
from pcloud.scheduler import weights

# Filters that drop hosts may come in any order, also between and after the
# two filters with preferences, of which the constraints come first.
DROPPING = ('AffinityFilter', 'RebootFilter', 'ColocationFilter')
# A filter that keeps capacity for a server on each host, where it is enabled.
ROOM = 'FreeMemoryFilter'
PREFERRING = ('ConstraintsFilter', 'LocalityFilter')
# As in the guides.
FILTERS = ('AffinityFilter', *PREFERRING, 'ColocationFilter', 'RebootFilter')
GROUP_FILTERS = ('ServerGroupAntiAffinityFilter', 'ServerGroupAffinityFilter')
SERVER_MB = 512
# A reboot within the days of the filter.
SOON = (timeutils.utcnow() + datetime.timedelta(days=30)).isoformat()
NOWHERE = 'nowhere'
CONF = nova.conf.CONF


@dataclasses.dataclass(frozen=True)
class Host:
    """A made-up host.

    :ivar capacity: how many servers of the request have capacity
    :ivar metadata: metadata of an aggregate with this host alone
    """

    name: str
    room: int
    total: int
    metadata: dict


@dataclasses.dataclass(frozen=True)
class Request:
    """A request for `count` servers.

    :ivar tags: the tags of each server
    :ivar hints: as a user writes them
    :ivar system: system keys of the cloud
    :ivar group: the policy of the servers' group, None without a group
    :ivar filters: Pcloud's filters, in their order
    """

    count: int
    tags: frozenset
    hints: dict
    system: tuple
    group: str | None = None
    filters: tuple = FILTERS


@dataclasses.dataclass
class Server:
    """A server on a host."""

    host: str
    tags: frozenset
    keys: tuple = ()
    uuid: str = ''


def _metadata(platform, reboot, hardware, rack, node_keys):
    metadata = {}
    for name, value in (('platform_version', platform),
                        ('next_reboot', reboot),
                        ('hardware_class', hardware), ('rack', rack)):
        if value:
            metadata[f'{names.ATTRIBUTE_KEY_PREFIX}{name}'] = value
    for name, value in node_keys.items():
        metadata[f'{names.NODE_KEY_PREFIX}{name}'] = value
    return metadata


metadata = st.builds(
    _metadata, st.sampled_from([None, '1.0', '2.0', '20260101T000000Z',
                                '20260601T000000Z']),
    st.sampled_from([None, SOON, '2099-01-01', '2099-01-05', '2099-03-01']),
    st.sampled_from([None, '1', '2', '4']),
    st.sampled_from([None, 'left', 'right']),
    st.dictionaries(st.sampled_from(['A', '_B']),
                    st.sampled_from(['0', '0.5', '1']), max_size=2))
hosts = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), metadata),
    min_size=2, max_size=4).map(lambda several: [
        Host(f'h{number}', room, room + more, its)
        for number, (room, more, its) in enumerate(several)])
tag_sets = st.frozensets(st.sampled_from(['web', 'db']), max_size=2)
keys = st.sampled_from(['Group=1:100', '_B=0:3']).map(
    lambda text: (affinity.parse(text),))
named = st.lists(st.sampled_from(['tag:web', 'tag:db']), max_size=1)


def _orders(places):
    """Return an order of the filters.

    :param places: for each filter that drops hosts, how many filters with
        preferences come before; 3 for a filter that is not enabled
    """
    return tuple(sum(([*(name for name in places if places[name] == number),
                       *PREFERRING[number:number + 1]]
                      for number in range(3)), []))


orders = st.fixed_dictionaries(
    {**{name: st.integers(0, 2) for name in DROPPING},
     ROOM: st.integers(0, 3)}).map(_orders)
requests = st.builds(
    Request, st.integers(2, 3), tag_sets, st.fixed_dictionaries({}, optional={
        'near': named, 'far': named,
        'locality': st.just(['strict']),
        'constraints': st.sampled_from([['ram=max'], ['cpu=max ram=max']]),
        'placement_key': st.sampled_from([
            ['Group=1:100'], ['Group=1:-100'], ['_B=1:10'],
            ['Group=1:-5', '_B=1:10']]),
        'in': st.just(['db'])}),
    st.sampled_from([(), ('A=1:60',), ('A=1:60', '#RAM=0:100'),
                     ('#RAM=1:100',), ('#CPU=0:50',), ('#RAM=0:-11',)]),
    st.sampled_from([None, None, 'anti-affinity', 'affinity']), orders)


class Chance:
    """Takes the choices of a script, then the first of each further choice."""

    def __init__(self, script):
        self._script = list(script)
        self.made = []

    def shuffle(self, several):
        """Put one of several hosts first."""
        number = (self._script[len(self.made)]
                  if len(self.made) < len(self._script) else 0)
        self.made.append((number, len(several)))
        several.insert(0, several.pop(number))

    @staticmethod
    def choice(several):
        """Return the first of several hosts."""
        return several[0]


def _outcomes(run):
    """Return every outcome of a function of a `Chance`."""
    found, scripts = set(), [[]]
    while scripts:
        script = scripts.pop()
        chance = Chance(script)
        found.add(run(chance))
        made = [number for number, _ in chance.made]
        for place in range(len(script), len(chance.made)):
            scripts += [made[:place] + [other]
                        for other in range(1, chance.made[place][1])]
    return found


class World:
    """Hosts, servers there, and Nova's scheduler."""

    def __init__(self, several, present):
        self._hosts = {host.name: host for host in several}
        self._taken = dict.fromkeys(self._hosts, 0)
        self.servers = list(present)

    def place(self, request, count, chance):
        """Place servers at once, and return their hosts."""
        asked = [getattr(uuids, f'server{len(self.servers) + number}')
                 for number in range(count)]
        with self._answering(request, chance):
            selections = self._scheduler(request)._schedule(
                mock.Mock(), self._spec(request, count), asked,
                {getattr(uuids, name): [{'host': name, 'mappings': {}}]
                 for name in self._hosts}, {}, return_alternates=True)
        chosen = [selection[0].service_host for selection in selections]
        keys = tuple(affinity.parse(text) for text
                     in request.hints.get('placement_key', ()))
        self.servers += [Server(host, request.tags, keys, uuid)
                         for host, uuid in zip(chosen, asked, strict=True)]
        return chosen

    def _scheduler(self, request):
        # Nova's scheduler without services and databases.
        made = object.__new__(manager.SchedulerManager)
        made.host_manager = object.__new__(host_manager.HostManager)
        classes = {each.__name__: each for each in (
            *filters.all_filters(),
            affinity_filters.ServerGroupAntiAffinityFilter,
            affinity_filters.ServerGroupAffinityFilter)}
        made.host_manager.enabled_filters = [
            classes[name]() for name in (*GROUP_FILTERS, *request.filters)]
        made.host_manager.filter_handler = (
            nova_filters.HostFilterHandler())
        made.host_manager.weighers = [
            each() for each in weights.all_weighers()]
        made.host_manager.weight_handler = nova_weights.HostWeightHandler()
        made._get_all_host_states = self._host_states
        return made

    def _host_states(self, context, spec, summaries):
        return iter([self._host_state(host) for host in self._hosts.values()
                     if self._taken[host.name] < host.room])

    def _host_state(self, host):
        state = host_manager.HostState(
            host.name, host.name, uuids.cell)
        free = host.room - self._taken[host.name]
        state.uuid = getattr(uuids, host.name)
        state.total_usable_ram_mb = host.total * SERVER_MB
        state.free_ram_mb = free * SERVER_MB
        state.vcpus_total, state.vcpus_used = host.total, host.total - free
        state.total_usable_disk_gb, state.free_disk_mb = 1000, 1000 * 1024
        state.num_instances = sum(
            server.host == host.name for server in self.servers)
        state.instances = {
            server.uuid: None for server in self.servers
            if server.host == host.name}
        state.metrics = []
        state.cpu_allocation_ratio = state.ram_allocation_ratio = 1.0
        state.disk_allocation_ratio = 1.0
        state.aggregates = [objects.Aggregate(metadata=host.metadata)]
        return state

    def _spec(self, request, count):
        spec = objects.RequestSpec(
            num_instances=count, project_id='alice', is_bfv=False,
            scheduler_hints={name: list(values) for name, values
                             in request.hints.items()},
            flavor=objects.Flavor(
                memory_mb=SERVER_MB, vcpus=1, root_gb=1, ephemeral_gb=0,
                swap=0, extra_specs={}),
            force_hosts=[], force_nodes=[], ignore_hosts=[],
            requested_destination=None, requested_resources=[],
            pci_requests=None, numa_topology=None,
            instance_group=request.group and self._group(request.group),
            limits=objects.SchedulerLimits())
        memo.of_request(spec).policies = [
            scoped_policies.Policy('pcloud', ''),
            scoped_policies.Policy('project', 'alice'),
            scoped_policies.Policy('domain', 'default'),
            scoped_policies.Policy('cloud', 'default', system_keys=tuple(
                map(affinity.parse, request.system)))]
        return spec

    def _group(self, policy):
        members = [server for server in self.servers if server.uuid]
        return objects.InstanceGroup(
            uuid=uuids.group, policy=policy, policies=[policy], rules={},
            members=[getattr(uuids, f'server{number}')
                     for number in range(len(self.servers) + 3)],
            hosts=[server.host for server in members])

    def _claim(self, context, client, spec, server, asked, **_):
        name = asked['host']
        if self._taken[name] >= self._hosts[name].room:
            return False
        self._taken[name] += 1
        return True

    def _find(self, context, project, ids, tags, but):
        return servers.NamedServers({}, frozenset(), {
            tag: [server.host for server in self.servers
                  if tag in server.tags] for tag in tags}, {})

    def _units(self, context, project, service):
        return servers.Places({
            str(number): server.host for number, server
            in enumerate(self.servers) if service in server.tags},
            frozenset())

    @contextlib.contextmanager
    def _answering(self, request, chance):
        claims = mock.Mock(claim_resources=self._claim)
        with (mock.patch.multiple(manager, random=chance, utils=claims,
                                  report=mock.Mock()),
              # The filter's order of hosts is the order of the choices.
              mock.patch.object(affinity_filter, 'random',
                                mock.Mock(random=lambda: 0)),
              mock.patch.object(expected_places, 'find', self._find),
              mock.patch.multiple(
                  servers, find=self._find, units=self._units,
                  requested_tags=lambda *_: sorted(request.tags)),
              mock.patch.object(sticky_copies, 'read', return_value=None),
              mock.patch.object(
                  host_attributes, 'effective', self._attributes),
              mock.patch.object(affinity_scores, '_running', self._running)):
            yield

    def _attributes(self, context, asked):
        return {name: {'rack': rack} for name in asked if (
            rack := self._hosts[name].metadata.get(
                f'{names.ATTRIBUTE_KEY_PREFIX}rack'))}

    def _running(self, spec, names_):
        keys = collections.defaultdict(tuple)
        for server in self.servers:
            keys[server.host] += server.keys
        return keys


def _at_once(several, present, request, chance):
    try:
        return tuple(World(several, present).place(
            request, request.count, chance))
    except nova_exception.NoValidHost:
        return NOWHERE


def _one_by_one(several, present, request, chance):
    world = World(several, present)
    try:
        return tuple(host for _ in range(request.count)
                     for host in world.place(request, 1, chance))
    except nova_exception.NoValidHost:
        return NOWHERE


class AtOnceTest(testtools.TestCase):
    """Each server of a request is placed as if the server came alone."""

    def setUp(self):
        super().setUp()
        objects.register_all()
        conf.register_opts(CONF)
        self.useFixture(config_fixture.Config(CONF)).config(
            group='filter_scheduler', shuffle_best_same_weighed_hosts=True)
        self.useFixture(config_fixture.Config(CONF)).config(
            group='pcloud', reboot_filter_days=60, free_memory_overhead_mb=0)

    def _assert_same(self, several, present, request):
        self.assertEqual(*(
            _outcomes(functools.partial(way, several, present, request))
            for way in (_one_by_one, _at_once)))

    @given(hosts, st.lists(st.tuples(st.integers(0, 3), tag_sets, keys),
                           max_size=3), requests)
    def test_same_outcomes(self, several, present, request):
        self._assert_same(several, [
            Server(several[number % len(several)].name, tags, its)
            for number, tags, its in present], request)

    def _outcomes(self, several, hints, tags=(), system=(), present=(),
                  count=2, group=None):
        request = Request(count, frozenset(tags), hints, system, group)
        self._assert_same(several, present, request)
        return _outcomes(functools.partial(
            _at_once, several, present, request))

    def test_own_tags(self):
        several = [Host(name, 2, 2, _metadata(
            None, None, None, rack, {})) for name, rack in (
                ('h0', 'left'), ('h1', 'left'), ('h2', 'right'))]
        self.assertEqual(
            {('h0', 'h0'), ('h1', 'h1'), ('h2', 'h2')},
            self._outcomes(several, {'near': ['tag:web']}, ['web']))
        self.assertEqual(
            {('h0', 'h2'), ('h1', 'h2'), ('h2', 'h0'), ('h2', 'h1')},
            self._outcomes(several, {'far': ['tag:web']}, ['web']))
        strict = {'far': ['tag:web'], 'locality': ['strict']}
        # The other rack comes first.
        self.assertEqual(
            {('h0', 'h2', 'h1'), ('h1', 'h2', 'h0'), ('h2', 'h0', 'h1'),
             ('h2', 'h1', 'h0')},
            self._outcomes(several, strict, ['web'], count=3))
        self.assertEqual({NOWHERE}, self._outcomes(
            several[:2], strict, ['web'], count=3))

    def test_the_greatest_that_are_full(self):
        several = [Host('h0', 1, 4, {}), Host('h1', 1, 3, {}),
                   Host('h2', 1, 2, {})]
        self.assertEqual({('h0', 'h1', 'h2')}, self._outcomes(
            several, {'constraints': ['ram=max']}, count=3))

    def test_strict_hosts_that_are_full(self):
        several = [Host(name, 1, 1, _metadata(
            None, None, None, 'left', {})) for name in ('h0', 'h1')]
        self.assertEqual({('h0', 'h1')}, self._outcomes(
            several, {'near': ['tag:web'], 'locality': ['strict']},
            present=[Server('h0', frozenset(['web']))]))

    def test_full_hosts_change_no_range(self):
        several = [
            Host('h0', 1, 1, _metadata('20260901T000000Z', None, None, None,
                                       {})),
            Host('h1', 1, 1, _metadata('20260101T000000Z', '2099-01-01',
                                       None, None, {})),
            Host('h2', 1, 1, _metadata('20260201T000000Z', '2098-01-01',
                                       None, None, {}))]
        self._outcomes(several, {})

    def test_hosts_that_locality_drops_change_no_range(self):
        several = [Host(name, 1, 1, _metadata(platform, None, None, None, {}))
                   for name, platform in (
                       ('h0', '2.0'), ('h1', None), ('h2', '1.0'))]
        self.assertEqual({('h2', 'h1')}, self._outcomes(
            several, {'far': ['tag:web']},
            present=[Server('h0', frozenset(['web']))]))

    def test_the_greatest_that_strict_locality_drops(self):
        """The greatest host that has capacity is not near."""
        several = [Host(name, 1, total, _metadata(None, None, None, rack, {}))
                   for name, total, rack in (
                       ('h0', 1, 'left'), ('h1', 2, None), ('h2', 2, 'left'))]
        self.assertEqual({NOWHERE}, self._outcomes(
            several, {'near': ['tag:web'], 'locality': ['strict'],
                      'constraints': ['ram=max']},
            present=[Server('h0', frozenset(['web']))]))

    def test_last_hosts_of_a_request_have_no_alternates(self):
        """Nova asks for alternates when each server has a host."""
        several = [Host(name, 1, 1, {}) for name in ('h0', 'h1')]
        self.assertEqual({('h0', 'h1'), ('h1', 'h0')}, self._outcomes(
            several, {'far': ['tag:web'], 'locality': ['strict']}, ['web']))

    def test_preferred_hosts_that_a_later_filter_drops(self):
        several = [Host(name, 1, 1, _metadata(None, reboot, None, None, {}))
                   for name, reboot in (
                       ('h0', SOON), ('h1', None), ('h2', None))]
        self.assertEqual({NOWHERE}, self._outcomes(
            several, {'near': ['tag:web']},
            present=[Server('h0', frozenset(['web']))]))
        # The turn of h0 comes for the second server.
        self.assertEqual({NOWHERE}, self._outcomes(
            [dataclasses.replace(several[0], total=2),
             dataclasses.replace(several[1], total=3), several[2]],
            {'constraints': ['ram=max']}))

    def test_the_greatest_that_the_group_keeps_for_others(self):
        several = [Host(name, 2, total,
                        _metadata(None, None, None, 'left', {}))
                   for name, total in (('h0', 4), ('h1', 3), ('h2', 2))]
        self.assertEqual({('h0', 'h1')}, self._outcomes(
            several, {'near': ['tag:web'], 'locality': ['strict'],
                      'constraints': ['ram=max']}, group='anti-affinity',
            present=[Server('h2', frozenset(['web'])),
                     Server('h1', frozenset(['web']))]))

    def test_preferred_hosts_come_before_the_customer_score(self):
        """The servers repel each other, and want to be near to one."""
        several = [Host('h0', 2, 2, {}), Host('h1', 2, 2, {})]
        self.assertEqual({('h0', 'h0')}, self._outcomes(
            several, {'near': ['tag:web'], 'placement_key': ['G=1:-100']},
            present=[Server('h0', frozenset(['web']))]))

    def test_a_server_that_is_moved_comes_alone(self):
        spec = objects.RequestSpec(num_instances=2)
        self.assertTrue(siblings.are_several(spec))
        spec.requested_destination = objects.Destination(
            cell=objects.CellMapping(uuid=uuids.cell))
        self.assertFalse(siblings.are_several(spec))
