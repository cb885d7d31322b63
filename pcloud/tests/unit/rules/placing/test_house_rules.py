# SPDX-License-Identifier: Apache-2.0

"""What the owner of a Pcloud allows there."""

import ddt
import testtools

from pcloud import exception
from pcloud.rules.placing import access
from pcloud.rules.placing import house_rules

NODES = {'web-1': 'a.example.org', 'Db': 'b.example.org'}


def _pcloud(**changes):
    return access.Pcloud(**{
        'id': 'p', 'tenants': frozenset({'alice', 'bob'}), 'owner': 'alice',
        'hosts': {'a': 1, 'b': 1},
        'states': dict.fromkeys(NODES.values(), 'enabled'),
        'named': NODES, **changes})


@ddt.ddt
class NarrowedTest(testtools.TestCase):
    """The rows of the table in `house_rules.narrowed`."""

    @ddt.data('alice', 'bob')
    def test_without_a_name_all_hosts_are_left(self, project):
        pcloud = _pcloud()
        self.assertIs(pcloud, house_rules.narrowed(
            pcloud, house_rules.Asked(project)))

    @ddt.data(('web-1', 'web-1'), ('WEB-1', 'web-1'), ('db', 'Db'))
    @ddt.unpack
    def test_one_host_is_left(self, name, pin):
        for project, by_tenants in (
                ('alice', False), ('alice', True), ('bob', True)):
            found = house_rules.narrowed(
                _pcloud(pin_by_tenants=by_tenants),
                house_rules.Asked(project, name))
            self.assertEqual(pin, found.pin)
            self.assertEqual(
                [node == NODES[pin] for node in NODES.values()],
                [bool(access.host_verdict(found, host, node))
                 for host, node in zip('ab', NODES.values())])

    @ddt.data('web-1', 'web-2')
    def test_other_tenants_learn_no_names(self, name):
        error = self.assertRaises(
            exception.HouseRuleBroken, house_rules.narrowed, _pcloud(),
            house_rules.Asked('bob', name))
        self.assertNotIn('web', str(error))

    @ddt.data('web', 'web-11', '')
    def test_unknown_name(self, name):
        for project in ('alice', 'bob'):
            error = self.assertRaises(
                exception.NamedHostUnknown, house_rules.narrowed,
                _pcloud(pin_by_tenants=True),
                house_rules.Asked(project, name))
            self.assertIn(f"no host named '{name}'", str(error))

    def test_pin_opens_no_host(self):
        for changes in ({'hosts': {'a': 2}}, {'due': frozenset('a')},
                        {'states': {NODES['web-1']: 'disabled'}},
                        {'leaving': frozenset('a')}, {'is_clear': False},
                        {'unopened': frozenset('a')}, {'hosts': {}}):
            found = house_rules.narrowed(
                _pcloud(**changes), house_rules.Asked('alice', 'web-1'))
            self.assertFalse(
                access.host_verdict(found, 'a', NODES['web-1']), changes)
