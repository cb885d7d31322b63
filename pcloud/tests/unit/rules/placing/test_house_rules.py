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


def _asked(project, host=None, flavor='1', image='i'):
    return house_rules.Asked(project, flavor, image, host)


@ddt.ddt
class NarrowedTest(testtools.TestCase):
    """The rows of the table in `house_rules.narrowed`."""

    @ddt.data('alice', 'bob')
    def test_without_a_name_all_hosts_are_left(self, project):
        pcloud = _pcloud()
        self.assertIs(pcloud, house_rules.narrowed(
            pcloud, _asked(project)))

    @ddt.data(('web-1', 'web-1'), ('WEB-1', 'web-1'), ('db', 'Db'))
    @ddt.unpack
    def test_one_host_is_left(self, name, pin):
        for project, by_tenants in (
                ('alice', False), ('alice', True), ('bob', True)):
            found = house_rules.narrowed(
                _pcloud(pin_by_tenants=by_tenants),
                _asked(project, name))
            self.assertEqual(pin, found.pin)
            self.assertEqual(
                [node == NODES[pin] for node in NODES.values()],
                [bool(access.host_verdict(found, host, node))
                 for host, node in zip('ab', NODES.values())])

    @ddt.data('web-1', 'web-2')
    def test_other_tenants_learn_no_names(self, name):
        error = self.assertRaises(
            exception.HouseRuleBroken, house_rules.narrowed, _pcloud(),
            _asked('bob', name))
        self.assertNotIn('web', str(error))

    @ddt.data('web', 'web-11', '')
    def test_unknown_name(self, name):
        for project in ('alice', 'bob'):
            error = self.assertRaises(
                exception.NamedHostUnknown, house_rules.narrowed,
                _pcloud(pin_by_tenants=True),
                _asked(project, name))
            self.assertIn(f"no host named '{name}'", str(error))

    def test_pin_opens_no_host(self):
        for changes in ({'hosts': {'a': 2}}, {'due': frozenset('a')},
                        {'states': {NODES['web-1']: 'disabled'}},
                        {'leaving': frozenset('a')}, {'is_clear': False},
                        {'unopened': frozenset('a')}, {'hosts': {}}):
            found = house_rules.narrowed(
                _pcloud(**changes), _asked('alice', 'web-1'))
            self.assertFalse(
                access.host_verdict(found, 'a', NODES['web-1']), changes)

    @ddt.data(
        ({}, '1', 'i', True), ({}, '', house_rules.NO_IMAGE, True),
        ({'flavors': {'1', '2'}}, '1', 'i', True),
        ({'flavors': {'1', '2'}}, '3', 'i', False),
        ({'flavors': {'m1'}}, 'M1', 'i', False),
        ({'flavors': set()}, '', 'i', False),
        ({'images': {'i'}}, '1', 'i', True),
        ({'images': {'i'}}, '1', 'j', False),
        ({'images': {'i'}}, '1', house_rules.NO_IMAGE, False),
        ({'images': {'i'}}, '1', None, True),
        ({'images': set()}, '1', 'i', False))
    @ddt.unpack
    def test_lists(self, lists, flavor, image, passes):
        pcloud = _pcloud(**{
            name: frozenset(ids) for name, ids in lists.items()})
        asked = _asked('bob', None, flavor, image)
        if passes:
            self.assertIs(pcloud, house_rules.narrowed(pcloud, asked))
        else:
            self.assertRaises(exception.HouseRuleBroken,
                              house_rules.narrowed, pcloud, asked)

    def test_what_is_allowed_is_told(self):
        for ids, told in ((range(3), 'only 0, 1, 2.'), ((), 'no flavor'),
                          (range(100, 112), ', 109 and 2 more.')):
            error = self.assertRaises(
                exception.HouseRuleBroken, house_rules.check_flavor,
                _pcloud(flavors=frozenset(map(str, ids))), 'x')
            self.assertIn(told, str(error))

    def test_what_is_refused_is_told(self):
        pcloud = _pcloud(flavors=frozenset('1'), images=frozenset('i'))
        for check, wrong, told in (
                (house_rules.check_flavor, 'x', "does not allow flavor 'x'"),
                (house_rules.check_image, 'x', "does not allow image 'x'"),
                (house_rules.check_image, house_rules.NO_IMAGE,
                 'does not allow a volume of which')):
            error = self.assertRaises(
                exception.HouseRuleBroken, check, pcloud, wrong)
            self.assertEqual('p', error.details['pcloud'])
            self.assertIn(told, str(error))
        for project, kind, told in (
                ('bob', exception.HouseRuleBroken, 'its owner alone'),
                ('alice', exception.NamedHostUnknown, "no host named 'x'")):
            error = self.assertRaises(
                kind, house_rules.narrowed, _pcloud(), _asked(project, 'x'))
            self.assertEqual('p', error.details['pcloud'])
            self.assertIn(told, str(error))


@ddt.ddt
class ListsTest(testtools.TestCase):
    """How lists of ids are kept."""

    @ddt.data([], ['1'], ['b', 'a'], ['x' * 255, 'y' * 255, 'z'],
              [f'{number:036}' for number in range(100)])
    def test_written_and_read(self, ids):
        parts = house_rules.packed(ids)
        self.assertLessEqual(max(map(len, parts)), 255)
        self.assertEqual(frozenset(ids), house_rules.listed(
            {f'p:{number}': part for number, part in enumerate(parts)},
            'p:'))
        if len(ids) == 100:
            self.assertEqual(17, len(parts))

    def test_parts(self):
        for ids, parts in (
                ([], ['']), (['b', 'a'], ['a,b']),
                # A value has at most 255 characters.
                (['a' * 100, 'b' * 154], [f'{"a" * 100},{"b" * 154}']),
                (['a' * 100, 'b' * 155], ['a' * 100, 'b' * 155])):
            self.assertEqual(parts, house_rules.packed(ids))

    def test_no_list(self):
        self.assertIsNone(house_rules.listed({'q:0': '1'}, 'p:'))
