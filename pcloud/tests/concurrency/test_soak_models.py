# SPDX-License-Identifier: Apache-2.0

"""The models by which the soak test judges, each with planted faults."""

import dataclasses
import random

import testtools

from pcloud.rules import waiting
from pcloud.tests.soak import calls
from pcloud.tests.soak import clocks
from pcloud.tests.soak import growers
from pcloud.tests.soak import guests
from pcloud.tests.soak import judge
from pcloud.tests.soak import lines
from pcloud.tests.soak import readers
from pcloud.tests.soak import registers
from pcloud.tests.soak import rights
from pcloud.tests.soak import rows

_A, _B, _C = (lines.Entry(f'e{each}', f'p{each}', each, f'w-{each}', since,
                          10000) for each, since in
              (('a', 100), ('b', 200), ('c', 300)))
_NOTHING = lines.Moment(1000.0)


def _moment(*entries, held=(), **more):
    return lines.Moment(
        1000.0, {each.id: each for each in entries},
        dict(enumerate(held)), **more)


def _host(entry, name=None):
    return lines.Held('h', entry.pcloud, entry.owner, name or entry.name)


class WaitingListTest(testtools.TestCase):

    def _kinds(self, before, after, **acts):
        acts.setdefault('pclouds', {'pa', 'pb', 'pc'})
        return [found.kind for found in lines.compare(
            before, after, lines.Acts(**acts))]

    def test_right(self):
        before = _moment(_A, _B)
        for after, acts in [
                (before, {}),
                (_moment(_B, held=[_host(_A)]), {}),
                (_moment(_B, held=[_host(_A, 'W-A-2')]), {}),
                (_moment(held=[_host(_A), _host(_B)]), {}),
                (_moment(_A), {'withdrawn': {'eb'}}),
                (_moment(_A, _B, _C), {})]:
            self.assertEqual([], self._kinds(before, after, **acts), after)
        # The clock has passed the end of the entry.
        self.assertEqual([], self._kinds(
            _moment(dataclasses.replace(_A, until=900)), _moment()))

    def test_planted(self):
        before = _moment(_A, _B)
        for after, acts, kind in [
                (_moment(_A, held=[_host(_B)]), {}, lines.OVERTAKEN),
                (_moment(_A, _B, held=[_host(_A)]), {}, lines.KEPT),
                (_moment(_B), {}, lines.LOST),
                (_moment(_A, _B, held=[_host(_C)]), {}, lines.UNASKED),
                (_moment(_A, _B, held=[_host(_C)]),
                 {'asked': {('pc', 'w-c'): 409}}, lines.UNASKED)]:
            self.assertIn(kind, self._kinds(before, after, **acts), after)

    def test_asked_for(self):
        before, after = _moment(_A), _moment(_A, held=[_host(_C)])
        for code, kinds in ((201, [lines.OVERTAKEN]), (202, []), (None, [])):
            self.assertEqual(kinds, self._kinds(
                before, after, asked={('pc', 'w-c'): code}))

    def test_others_looked_before_the_entry_was_there(self):
        for since, kinds in ((100, [lines.OVERTAKEN]), (990, [])):
            entry = dataclasses.replace(_A, since=since)
            self.assertEqual(kinds, self._kinds(
                _moment(entry), _moment(entry, held=[_host(_C)]),
                pclouds={'pa'}))

    def test_units_come_first(self):
        """The owner of the older entry has a host already."""
        old = _host(_A, 'old')
        self.assertEqual([], self._kinds(
            _moment(_A, _B, held=[old]),
            _moment(_A, held=[old, _host(_B)])))
        self.assertEqual([lines.OVERTAKEN], self._kinds(
            _moment(_A, _B, held=[old]),
            _moment(_B, held=[old, _host(_A)])))
        # A greater share takes the hosts that are there into account.
        other = _host(_B, 'old')
        shares = {'shares': {'a': 2.0}}
        self.assertEqual([lines.OVERTAKEN], self._kinds(
            _moment(_A, _B, held=[old, other], **shares),
            _moment(_A, held=[old, other, _host(_B)], **shares)))

    def test_what_may_have_been_between(self):
        """A host was given back, and a worker may have looked before."""
        self.assertEqual([], self._kinds(
            _moment(_A, _B, held=[_host(_A, 'old')]),
            dataclasses.replace(_moment(_A), held={7: _host(_B)})))
        held = [_host(_A, 'old'), _host(_B, 'old')]
        for share, kinds in ((1.0, [lines.OVERTAKEN]), (0.1, [])):
            self.assertEqual(kinds, self._kinds(
                _moment(_A, _B, held=held, shares={'b': 0.5}),
                _moment(_A, held=[*held, _host(_B)],
                        shares={'b': 0.5, 'a': share})))

    def test_passed_over(self):
        """The quota of the older entry's owner does not allow the host."""
        old = _host(_A, 'old')
        before = _moment(_A, _B, held=[old, _host(_B, 'o'), _host(_B, 'p')],
                         limits={'a': 1})
        after = _moment(_A, held=[*before.held.values(), _host(_B)],
                        limits={'a': 1})
        self.assertEqual([], self._kinds(before, after))
        self.assertEqual([lines.OVERTAKEN], self._kinds(
            dataclasses.replace(before, limits={'a': 2}),
            dataclasses.replace(after, limits={'a': -1})))

    def test_as_the_rule(self):
        """The model agrees with the rule of the product, by chance."""
        chance = random.Random(1)
        for _ in range(500):
            entries, held, shares, limits = _drawn(chance)
            before = _moment(*entries, held=held, shares=shares,
                             limits=limits)
            places = [place for place in waiting.order(
                [waiting.Waiting(each.id, 'f', each.owner, waiting.Entry(
                    each.pcloud, each.name, each.since, each.until))
                    for each in entries],
                {owner: waiting.Project(
                    sum(each.owner == owner for each in held), share,
                    limits[owner]) for owner, share in shares.items()},
                lines.UNITS) if place.is_matchable]
            # Who may not have a host by the quota is not judged here.
            able = {place.waiting.owner for place in places}
            for each in (its for its in entries if its.owner in able):
                left = [other for other in entries if other != each]
                after = _moment(*left, held=[*held, _host(each)],
                                shares=shares, limits=limits)
                kinds = set(self._kinds(before, after))
                self.assertEqual(
                    set() if each.id == places[0].waiting.id else
                    {lines.OVERTAKEN}, kinds, (before, each))


def _drawn(chance):
    owners = 'abc'
    entries = [lines.Entry(
        f'e{number}', f'p{owner}', owner, f'w{number}',
        chance.randint(100, 103), 10000) for number, owner in enumerate(
            chance.choices(owners, k=chance.randint(1, 6)))]
    held = [lines.Held(f'h{number}', f'p{owner}', owner, f'o{number}')
            for number, owner in enumerate(
                chance.choices(owners, k=chance.randint(0, 5)))]
    return (entries, held,
            {each: chance.choice((0.5, 1, 1, 2, 3)) for each in owners},
            {each: chance.choice((1, 2, 6, -1)) for each in owners})


class ClockTest(testtools.TestCase):

    def _clock(self, *looks):
        clock = clocks.Clock()
        clock.last = clocks.Look(0, {}, set(), {'f': 1}, 0)
        for moment, held, leaving, units in looks:
            # A change that is open may have begun four seconds before.
            clock.look(clocks.Look(moment + 1, held, leaving, {'f': units},
                                   moment - 3))
        return clock

    def _faults(self, clock, hosts, seconds, units, earlier=None):
        shown = [{'id': 'f', 'hosts': hosts, 'host_hours': seconds / 3600,
                  'unit_hours': units / 3600}]
        return [found.subject.split()[0] for found in clocks.faults(
            'p', shown, clock.bounds(earlier or clock.spans))]

    def test_held(self):
        """A host comes from 11 to 21, and leaves from 51 to 61."""
        clock = self._clock(
            (10, {}, set(), 1), (20, {1: 'f'}, set(), 1),
            (50, {1: 'f'}, set(), 1), (60, {}, set(), 1))
        for seconds in (29, 30, 40, 50, 51):
            self.assertEqual([], self._faults(clock, 1, seconds, seconds))
        for seconds in (28, 52):
            self.assertEqual(['host-seconds'], self._faults(
                clock, 1, seconds, 40))
        self.assertEqual(['hosts'], self._faults(clock, 2, 40, 40))
        self.assertEqual(['unit-seconds'], self._faults(clock, 1, 40, 80))
        self.assertEqual(
            ['hosts', 'host-seconds', 'unit-seconds'],
            self._faults(clock, 0, 0, 0))

    def test_a_worker_lets_go(self):
        """The worker may have read the clock before the look before."""
        clock = self._clock(
            (20, {1: 'f'}, {1}, 1), (50, {1: 'f'}, {1}, 1),
            (60, {}, set(), 1))
        self.assertEqual([], self._faults(clock, 1, 25, 25))
        self.assertEqual(['host-seconds', 'unit-seconds'],
                         self._faults(clock, 1, 24, 23))

    def test_still_held(self):
        clock = self._clock((20, {1: 'f'}, set(), 1))
        clock.look(clocks.Look(51, {1: 'f'}, set(), {'f': 1}, 51))
        earlier = dict(clock.spans)
        clock.look(clocks.Look(91, {1: 'f'}, set(), {'f': 1}, 91))
        for seconds, found in ((29, []), (92, []), (28, ['host-seconds']),
                               (93, ['host-seconds'])):
            self.assertEqual(found, self._faults(
                clock, 1, seconds, 50, earlier))

    def test_units_that_change(self):
        """A host counts 2 up to 61 at most, and 1 from 51 on at least."""
        clock = self._clock(
            (20, {1: 'f'}, set(), 2), (50, {1: 'f'}, set(), 2),
            (60, {1: 'f'}, set(), 1), (80, {}, set(), 1))
        for units, found in ((26, []), (144, []), (25, ['unit-seconds']),
                             (145, ['unit-seconds'])):
            self.assertEqual(found, self._faults(clock, 1, 60, units))

    def test_months(self):
        self.assertEqual(['2026-11'], clocks.months(1796000000, 1796000001))
        self.assertEqual(['2026-11', '2026-12'],
                         clocks.months(1796000000, 1796100000))


class RefusalTest(testtools.TestCase):

    def test_growth(self):
        for reason, right in [
                ('it has 2 hosts, needs at least 2 more, and may have 3 '
                 '(max_hosts).', True),
                ('it has 1 hosts, needs at least 2 more, and may have 3 '
                 '(max_hosts).', False),
                ('it has 4 hosts, needs at least 2 more, and may have 4 '
                 '(max_hosts).', False),
                ('Quota exceeded for units: requested 1, but already used 2 '
                 'of 2 units.', True),
                ('Quota exceeded for units: requested 1, but already used 1 '
                 'of 2 units.', False),
                ("There is no free host of host flavor 'f'.", True),
                ('No valid host was found. set the default anew.', False),
                ('', False)]:
            self.assertEqual(right, growers.is_right(reason, 3, 2), reason)

    def _server(self, host, hint, state='active', fault=''):
        return growers.Started('s', host, state, hint, fault)

    def test_default(self):
        for server, default, kinds in [
                (self._server('h', 'p'), 'p', []),
                (self._server('x', 'p'), 'p', [True]),
                (self._server('h', None), 'p', [True]),
                (self._server(None, 'p', 'error', 'No valid host was found.'),
                 'p', []),
                (self._server(None, 'p', 'error'), 'p', [False]),
                (self._server('x', 'p', 'error', 'It fails late.'), 'p',
                 [True]),
                (self._server('x', None), None, []),
                (self._server('h', None), None, [True])]:
            self.assertEqual(kinds, [
                kind == 'server not where its default is' for kind, *_
                in growers.faults([server], default, {'h'}, 3, 6)], server)

    def test_caps(self):
        allowance = guests.Allowance()
        allowance.rest(3, 1)
        allowance.largest = 1
        self.assertEqual((5, 4), (allowance.most(2), allowance.most(1)))
        self.assertTrue(allowance.explains_refusal(3, 1))
        self.assertFalse(allowance.explains_refusal(2, 1))
        allowance.caps.add(2)
        self.assertEqual(4, allowance.most(1))
        self.assertTrue(allowance.explains_refusal(2, 1))
        # What is used stays when the cap is lowered.
        allowance.rest(0, 4)
        self.assertEqual(4, allowance.most(2))

    def test_tenants_may_use_hosts(self):
        pcloud = rows.Aggregate('u', 'Pcloud:p', frozenset({'h'}), {
            'pcloud:id': 'p', 'pcloud:owner': 'o',
            'pcloud:t': 'pcloud-tenant', 'pcloud:x': 'no tenant'})
        for project, hint, wrong in [
                ('o', 'p', 0), ('t', 'p', 0), ('x', 'p', 1), ('t', None, 1)]:
            self.assertEqual(wrong, len(list(rights.violations(
                [rows.Server('s', 'h', project, hint)], {'h': pcloud},
                set()))))

    def test_drain_that_was_lost(self):
        host = ('p', 'host', 'web')
        drain = calls.drain('p', 'web', {'release': True}, 'enabled')
        stay = calls.drain('p', 'web', {'release': False}, 'enabled')
        for call, values, done in [
                (drain, {host: registers.LEAVING}, True),
                (drain, {}, True), (drain, {host: 'enabled'}, False),
                (stay, {host: 'disabled'}, True), (stay, {}, False)]:
            self.assertEqual(done, judge.is_done(call, values), values)

    def test_connections(self):
        broken = "<class 'sqlalchemy.exc.OperationalError'>"
        silent = 'The database of the compute service cannot be reached'
        many = "(1040, 'Too many connections')"
        for path, text, errors, event in [
                ('/servers', broken, many, judge.OF_NOVA),
                ('/servers', broken, '', None),
                ('/servers', 'KeyError', many, None),
                ('/servers', silent, many, judge.OF_PCLOUD),
                ('/os-pclouds', broken, many, None),
                ('/os-host-flavors/f', broken, many, None)]:
            self.assertEqual(event, judge.server_error(path, text, errors))


class ReadersTest(testtools.TestCase):

    def _kinds(self, who, path, code, text=''):
        return [found.kind for found in readers.faults(
            who, path, code, text, {'real-1', 'real-1.hv.example.org'},
            {'p', 'o'})]

    def test_right(self):
        for who, path, code, text in [
                (readers.Who.OWNER, '/os-pclouds/p', 200, '"real-11" "p"'),
                (readers.Who.OWNER, '/os-pclouds/p', 404, ''),
                (readers.Who.OWNER, '/os-pcloud-audit', 403, ''),
                (readers.Who.STRANGER, '/os-pclouds/p', 404, "'p'"),
                (readers.Who.STRANGER, '/os-pclouds', 200, '{}'),
                (readers.Who.STRANGER, '/os-pcloud-quotas/o', 403, ''),
                (readers.Who.NOBODY, '/os-pclouds', 403, ''),
                (readers.Who.NOBODY, '/os-host-flavors', 200, ''),
                (readers.Who.NOBODY, '/os-pclouds/p', 503, '')]:
            self.assertEqual([], self._kinds(who, path, code, text), path)

    def test_planted(self):
        for who, path, code, text, kind in [
                (readers.Who.OWNER, '/os-pclouds/p/hosts', 200,
                 '{"host": "real-1"}', 'hostname shown'),
                (readers.Who.NOBODY, '/os-host-flavors', 200,
                 'on real-1.hv.example.org.', 'hostname shown'),
                (readers.Who.OWNER, '/os-pclouds/p', 403, '',
                 'refused without a reason'),
                (readers.Who.STRANGER, '/os-pclouds/p', 200, '',
                 'shown to a stranger'),
                (readers.Who.STRANGER, '/os-pclouds/p', 403, '',
                 'shown to a stranger'),
                (readers.Who.STRANGER, '/os-pclouds', 200, '{"id": "p"}',
                 'shown to a stranger'),
                (readers.Who.NOBODY, '/os-pclouds?limit=2', 200, '',
                 'shown to a stranger'),
                (readers.Who.OWNER, '/os-pcloud-usage', 200, '',
                 'refused without a reason')]:
            self.assertEqual([kind], self._kinds(who, path, code, text),
                             path)

    def test_levels(self):
        for path, level in [
                ('/os-host-flavors/f', readers.Level.ANY),
                ('/os-host-flavors/f/waiting', readers.Level.ADMIN),
                ('/os-pclouds?all_tenants=1', readers.Level.ADMIN),
                ('/os-pclouds/p/waiting', readers.Level.PCLOUD),
                ('/os-pcloud-usage/o', readers.Level.PROJECT),
                ('/os-pcloud-servers', readers.Level.LIST)]:
            self.assertEqual(level, readers.level(path), path)
