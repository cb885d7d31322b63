# SPDX-License-Identifier: Apache-2.0

"""Attributes of many hosts, and of each host alone."""

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st
from nova import objects
import testtools

from pcloud import names
from pcloud.rules.placing import attributes
from pcloud.scheduler import host_attributes

NAMES = (*attributes.KNOWN, 'classes')

_VALUES = st.sampled_from((
    '20260101T000000Z', '2.10', '2999-01-01', '2999-02-01', '2000-01-01',
    '3', 'r1', 'a,b', 'nonsense', ''))
_AGGREGATES = st.lists(st.dictionaries(
    st.sampled_from([
        names.TYPE, *map(names.attribute_key, NAMES)]),
    st.one_of(_VALUES, st.just(names.TYPE_ATTRIBUTE))), max_size=5)


def _host(aggregates):
    return mock.Mock(spec_set=['aggregates'], aggregates=aggregates)


def _lists(states):
    numbers, kinds = host_attributes.grouped_lists(states, NAMES)
    return [kinds[number] for number in numbers]


class HostAttributesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()

    @given(_AGGREGATES, st.data())
    def test_as_of_each_host_alone(self, metadata, data):
        aggregates = [objects.Aggregate(metadata=each) for each in metadata]
        hosts = data.draw(st.lists(st.lists(st.sampled_from(
            aggregates), unique_by=id) if aggregates else st.just([])))
        moment = host_attributes.now()
        for name in NAMES:
            key = names.attribute_key(name)
            stated = [[
                attributes.Statement(
                    each.metadata[key], names.is_attribute(each.metadata))
                for each in host if key in each.metadata] for host in hosts]
            states = list(map(_host, hosts))
            effective = [attributes.effective(name, each, moment)[0]
                         for each in stated]
            self.assertEqual(
                [value if value is None else attributes.read(name, value)
                 for value in effective],
                host_attributes.values(states, name))
            self.assertEqual(
                [attributes.all_values(name, each, moment) for each in stated],
                [each[name] for each in _lists(states)])
