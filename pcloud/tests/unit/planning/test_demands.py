# SPDX-License-Identifier: Apache-2.0

"""Placement is asked only where it matters which provider gives a group."""

import types
from unittest import mock

import ddt
import testtools

from pcloud.planning import demands
from pcloud.rules import capacity
from pcloud.scheduler import candidates

ONE = capacity.Host({'VCPU': (4,), 'VGPU': (4,)}, frozenset())
TWO = capacity.Host({'VCPU': (4,), 'VGPU': (4, 2)}, frozenset())


def part(suffix='', *traits, **amounts):
    return candidates.Part(suffix, amounts, traits)


def parts(*groups, isolated=False, tied=False, **loose):
    return candidates.Parts(
        part(VCPU=1, **loose), groups, isolated, tied)


def spec(**extra_specs):
    return types.SimpleNamespace(
        flavor=types.SimpleNamespace(extra_specs=extra_specs),
        pci_requests=None, numa_topology=None)


def answer(context, loose, group, destination):
    """Return that each group comes from a provider with the class's name."""
    return {(its.suffix, name): frozenset([name])
            for its in (loose, group) if its for name in its.amounts}


@ddt.ddt
class DemandsTest(testtools.TestCase):

    def read(self, *its, hosts=(TWO,), **extra_specs):
        with mock.patch.object(
                candidates, 'givers', side_effect=answer) as asked:
            found = demands.read(None, its, [
                spec(**extra_specs) for _ in its], hosts, None)
        self.asked = asked.call_count
        return found

    @ddt.data(
        # Each server takes the same from any provider.
        ([parts(part('1', VGPU=1))], False),
        ([parts(VGPU=1), parts(part('1', VGPU=1)), parts()], False),
        # Several groups of a server; a part with a trait; more than one;
        # several classes from one provider; and different amounts.
        ([parts(part('1', VGPU=1), part('2', VGPU=1))], True),
        ([parts(part('1', 'CUSTOM_LARGE', VGPU=1))], True),
        ([parts(part('1', VGPU=2))], True),
        ([parts(part('1', VGPU=1, SRIOV_NET_VF=1))], True),
        ([parts(VGPU=1), parts(VGPU=2)], True))
    @ddt.unpack
    def test_whether_the_provider_matters(self, its, matters):
        found = self.read(*its)
        self.assertEqual((matters, matters), (found.groups, self.asked > 0))
        self.assertEqual({}, found.unknown)
        # Without hosts there is nothing to ask about.
        self.assertFalse(self.read(*its, hosts=()).groups)
        self.assertEqual(0, self.asked)

    def test_groups(self):
        found = self.read(parts(
            part('a', VGPU=2), part('b', VGPU=2), isolated=True))
        needed = found.of[0].providers
        self.assertTrue(needed.is_isolated)
        self.assertEqual([('a', {'VGPU': 2}, {'VGPU'}),
                          ('b', {'VGPU': 2}, {'VGPU'})], [
            (group.name, group.amounts, set(group.able))
            for group in needed.groups])
        # Groups that ask for the same are one question.
        self.assertEqual(1, self.asked)

    def test_what_cannot_be_asked(self):
        """Nothing is proven about the groups."""
        its = parts(part('1', VGPU=2))
        for text, found in (
                ('accelerators', self.read(
                    its, **{'accel:device_profile': 'fpga'})),
                ('tied', self.read(parts(part('1', VGPU=2), tied=True))),
                ('tied', self.read(parts(part('1', 'CUSTOM_LARGE'))))):
            self.assertIn(text, found.unknown[0])
            self.assertEqual({}, found.of)
        with mock.patch.object(demands, 'MOST_GROUPS', 1):
            found = self.read(its, parts(part('1', VGPU=3)))
        self.assertEqual([0], list(found.of))
        self.assertEqual('too_many_groups', found.unknown[1])
