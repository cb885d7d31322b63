# SPDX-License-Identifier: Apache-2.0


"""The hosts that pass are the hosts that satisfy every constraint."""

import re
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st
from nova import objects
import testtools

from pcloud import exception
from pcloud import names
from pcloud.rules import host_resources
from pcloud.rules.placing import attributes
from pcloud.rules.placing import constraints as constraint_rules
from pcloud.rules.placing import machines
from pcloud.scheduler.filters import constraints
from pcloud.scheduler import host_attributes
from pcloud.scheduler import host_capacity
from pcloud.scheduler import memo

ATTRIBUTES = ('rack', 'platform_version', 'classes')
aggregates = st.lists(st.dictionaries(
    st.sampled_from([names.TYPE, *map(names.attribute_key, ATTRIBUTES)]),
    st.sampled_from(['a', 'b', 'a,b', '2.1', '2.2', names.TYPE_ATTRIBUTE])),
    max_size=4)
sizes = st.tuples(st.sampled_from([None, 0, 1, 2, 3]),
                  st.sampled_from([None, 512, 1024, 1025]),
                  st.sampled_from([None, 4, 5]))
written = st.lists(st.sampled_from([
    'cpu=2', 'cpu=max', 'cpu=0', 'ram=1G', 'ram=max', 'ram=0', 'storage=0',
    'storage=max', 'host=h0', 'host=n1', 'host=x', 'rack=a', 'rack=^a',
    'platform_version=2.1,^2.2', 'platform_version>=2.2', 'classes=a,^b',
    'resource:VCPU=2', 'resource:PCPU=1', 'resource:VGPU=2',
    'resource:CUSTOM_A=1', 'trait:A=required', 'trait:A=forbidden',
    'trait:B=required']),
    max_size=4, unique_by=lambda pair: pair.partition('=')[0]).map(' '.join)
# What Placement tells of hosts; None of a host of which it tells nothing.
holdings = st.none() | st.builds(
    host_resources.Resources, st.dictionaries(
        st.sampled_from(['VGPU', 'CUSTOM_A', 'VCPU']), st.integers(0, 2)),
    st.just({}), st.frozensets(st.sampled_from(['A', 'B', 'C'])))


def _host(number, its_sizes, its_aggregates):
    vcpus, memory, disk = its_sizes
    return mock.Mock(
        spec_set=['host', 'nodename', 'uuid', 'vcpus_total',
                  'total_usable_ram_mb', 'total_usable_disk_gb', 'aggregates',
                  'numa_topology'],
        host=f'h{number}', nodename=f'n{number}', uuid=f'u{number}',
        vcpus_total=vcpus,
        total_usable_ram_mb=memory, total_usable_disk_gb=disk,
        numa_topology=None,
        aggregates=its_aggregates)


def _machine(host, moment, held):
    """Return a host as a machine, without a look at other hosts."""
    amounts = {} if held is None else dict(held.total)
    amounts |= {'VCPU': host.vcpus_total or 0, 'PCPU': 0}
    return machines.Machine(host_capacity.sizes(host), {
        name: attributes.all_values(name, [
            attributes.Statement(each.metadata[key],
                                 names.is_attribute(each.metadata))
            for each in host.aggregates if key in each.metadata], moment)
        for name, key in zip(ATTRIBUTES, map(
            names.attribute_key, ATTRIBUTES))}, (host.host, host.nodename),
        amounts, None if held is None else held.traits)


class ConstraintsFilterTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()

    @given(aggregates, st.data(), written)
    def test_as_each_host_as_a_machine(self, metadata, data, text):
        them = [objects.Aggregate(metadata=each) for each in metadata]
        hosts = [_host(number, *pair) for number, pair in enumerate(
            data.draw(st.lists(st.tuples(sizes, st.lists(
                st.sampled_from(them), unique_by=id) if them else st.just(
                    [])), min_size=1, max_size=6)))]
        settings = constraint_rules.effective(
            [('request', constraint_rules.parse(text))], {})
        moment = host_attributes.now()
        held = {host.uuid: data.draw(holdings) for host in hosts}
        unmet = machines.unmet(machines.wanted(settings), [
            _machine(host, moment, held[host.uuid]) for host in hosts])
        spec = objects.RequestSpec(num_instances=1)
        memo.of_request(spec).settings = settings
        memo.of_request(spec).holdings = {
            uuid: its for uuid, its in held.items() if its}
        found = constraints.ConstraintsFilter()
        self.assertEqual(
            [bool(keys) for keys in unmet],
            [reason is not None for reason in found.why(hosts, spec)])
        expected = [host for host, keys in zip(hosts, unmet) if not keys]
        if expected:
            self.assertEqual(expected, list(found.passing_hosts(hosts, spec)))
            return
        refusal = self.assertRaises(
            exception.HostsRefused, found.passing_hosts, hosts, spec)
        _, told, shown = str(refusal).rstrip('.').partition(
            'the machine constraints ')
        self.assertTrue(told)
        shown, overlap, _ = shown.partition(' together, although ')
        ruling_out = machines.unmeetable(unmet)
        self.assertEqual(bool(overlap), len(ruling_out[0]) > 1)
        self.assertEqual(
            [key for keys in ruling_out for key in keys],
            [re.split('[= ]', each)[0] for each
             in re.split(', | and ', shown)])

    def test_the_greatest_of_hosts_that_are_all_large_enough(self):
        hosts = [_host(number, (2 + number, 1024, 5), []) for number in (0, 1)]
        for text, expected in (('cpu=max', hosts[1:]), ('cpu=2', hosts),
                               ('cpu=3', hosts[1:]), ('', hosts)):
            spec = objects.RequestSpec(num_instances=1)
            memo.of_request(spec).settings = constraint_rules.effective(
                [('request', constraint_rules.parse(text))], {})
            self.assertEqual(expected, list(
                constraints.ConstraintsFilter().passing_hosts(hosts, spec)))
