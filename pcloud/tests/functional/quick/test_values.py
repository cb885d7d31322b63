# SPDX-License-Identifier: Apache-2.0

"""Values that somebody has written by hand, each key with every rubbish.

Nova lets an administrator write anything, and what Nova's API refuses a hand
writes into the database. Whatever a value is, every call answers and no
filter dies, nobody gets a host by it, and audit names it.
"""

import contextlib
import itertools
import json

from nova.db.api import api as api_db
from nova.db.api import models
from nova import exception
from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import weights as nova_weights
from oslo_utils.fixture import uuidsentinel
import sqlalchemy as sa

from pcloud.audit import all_checks
from pcloud.explain import conductor
from pcloud.scheduler import filters
from pcloud.scheduler import weights
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

NODE = 'node-1.hv.example.org'
TENANT = f'pcloud:{base.BOB}'
MISSING = None
# The aggregates of the cloud in `ValuesTestCase`.
PCLOUD, POOL, ATTRIBUTE, RACK, JOURNAL = (
    'pcloud', 'pool', 'attribute', 'rack', 'journal')
PROJECT, OF_PCLOUD, CLOUD = 'project', 'of pcloud', 'cloud'

# Messages show so much of a value at least.
SHOWN = 100

# Any text will do for these, and for some a number, or nothing.
TEXTS = ('abc', 'nan', 'inf', '-1', '1e400', 'x' * 255, '[1, {"a": null}]',
         '٣', '0x10', '9' * 255)
# Aggregate, key and what of the rubbish is right there; a value that is not
# has to be found by audit.
KEYS = {
    (PCLOUD, 'cpu_allocation_ratio'): (MISSING,),
    (PCLOUD, 'ram_allocation_ratio'): (MISSING,),
    (PCLOUD, f'pcloud:host_state:{NODE}'): (),
    (PCLOUD, 'pcloud:host:a'): (),
    (PCLOUD, TENANT): (MISSING,),
    (PCLOUD, 'pcloud:shrink'): (MISSING,),
    (PCLOUD, 'pcloud:host_recovery'): (MISSING,),
    (PCLOUD, 'pcloud:name'): TEXTS,
    (PCLOUD, 'pcloud:owner'): TEXTS,
    (PCLOUD, 'pcloud:id'): (),
    (PCLOUD, 'pcloud:type'): (),
    (POOL, 'pcloud:units'): (),
    (POOL, 'pcloud:description'): (*TEXTS, '', '  ', MISSING),
    (POOL, 'pcloud:flavor_id'): (),
    (POOL, 'pcloud:type'): (),
    (PROJECT, 'pcloud:quota:units'): ('-1', MISSING),
    (PROJECT, 'pcloud:scope'): (),
    (PROJECT, 'pcloud:scope_id'): (),
    (PROJECT, 'pcloud:type'): (),
    (PROJECT, 'pcloud:system_key:A'): (MISSING,),
    (PROJECT, 'pcloud:customer_key:B'): (MISSING,),
    (OF_PCLOUD, 'pcloud:customer_key:B'): (MISSING,),
    (OF_PCLOUD, 'pcloud:constraint:ram'): ('', '9' * 255, MISSING),
    (CLOUD, 'pcloud:system_key:special.RAM'): (MISSING,),
    (CLOUD, 'pcloud:constraint:next_reboot'): ('', MISSING),
    (ATTRIBUTE, 'pcloud:attr:hardware_class'): (),
    (ATTRIBUTE, 'pcloud:type'): (),
    (RACK, 'pcloud:attr:platform_version'): (MISSING,),
    (RACK, 'pcloud:attr:next_reboot'): (MISSING,),
    (RACK, 'pcloud:attr:rack'): (
        *TEXTS, 'a\nforged line', '\x00\x7f', MISSING),
    (RACK, 'pcloud:key:A'): ('-1', MISSING),
    (RACK, 'pcloud:sticky:A'): ('-1', MISSING),
    (JOURNAL, 'pcloud:own_ratios:node-1'): (MISSING,),
    (JOURNAL, 'pcloud:drain:node-1'): (MISSING,),
    (JOURNAL, 'pcloud:spare:node-1'): (MISSING,),
    (JOURNAL, 'pcloud:idle:node-1'): (MISSING,),
    (JOURNAL, 'pcloud:recovery:node-1'): (MISSING,),
    (JOURNAL, 'pcloud:node:node-1'): (),
    (JOURNAL, 'pcloud:due:node-1'): (MISSING,),
    (JOURNAL, 'pcloud:due:node-2'): (MISSING,)}
# Keys whose rubbish closes the host of the Pcloud to its tenants.
CLOSING = {
    (PCLOUD, 'cpu_allocation_ratio'), (PCLOUD, 'ram_allocation_ratio'),
    (PCLOUD, f'pcloud:host_state:{NODE}'), (PCLOUD, 'pcloud:id'),
    (PCLOUD, 'pcloud:type'), (JOURNAL, 'pcloud:due:node-1')}
# What tells of a value.
KINDS = ('host-without-state', 'host-without-one-name', 'name-without-host',
         'node-not-kept', 'incomplete-aggregate', 'value-not-valid',
         'attribute-not-valid')


def _strict(text):
    def refuse(name):
        raise ValueError(f'{name} is not JSON')
    return json.loads(text, parse_constant=refuse)


class ValuesTestCase(shared_cloud.SharedCloudTestCase):
    """One host in alice's Pcloud, one free in its pool, one for all."""

    hosts = {'node-1': 'az1', 'node-2': 'az2', 'node-3': 'az2'}

    def furnish(self):
        super().furnish()
        self.flags(reboot_filter_days=1, platform_weight_multiplier=1.0,
                   waste_weight_multiplier=1.0, group='pcloud')
        self.make_pool('gpu', 'node-1')
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}'
        self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        self.disable_service('node-2')
        self.admin.call_json('POST', '/os-host-flavors/gpu/hosts',
                             {'host': {'host': 'node-2'}})
        self.admin.call_json('PUT', f'{self.path}/tenants/{base.BOB}')
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': 1}}})
        for scope in (f'project/{base.ALICE}', f'pcloud/{self.pcloud}'):
            self.admin.call_json('PUT', f'/os-pcloud-policies/{scope}', {
                'policy': {'system_keys': ['A=1:1'],
                           'customer_keys': ['B=1:1'],
                           'constraints': 'cpu=1'}})
        self.admin.call_json('PUT', '/os-pcloud-policies/cloud/default', {
            'policy': {'system_keys': ['C=1:1']}})
        self.admin.call_json('PUT', '/os-pcloud-attributes/hardware_class', {
            'attribute': {'value': '3', 'hosts': ['node-1', 'node-3']}})
        rack = self.make_aggregate('rack')
        for host in self.hosts:
            self.admin.add_host_to_aggregate(rack, host)
        self.ids = {name: self.aggregate(wanted).id for name, wanted in {
            PCLOUD: f'Pcloud:{self.pcloud}', POOL: 'Pcloud:host_flavor:gpu',
            ATTRIBUTE: 'Pcloud:attribute:hardware_class=3', RACK: 'rack',
            JOURNAL: 'pcloud-journal',
            PROJECT: f'Pcloud:policy:project:{base.ALICE}',
            OF_PCLOUD: f'Pcloud:policy:pcloud:{self.pcloud}',
            CLOUD: 'Pcloud:policy:cloud:default'}.items()}
        self.rows = self._all_rows()
        self.assertEqual([], all_checks.find(self.context, settle=0))

    def _all_rows(self):
        with api_db.context_manager.reader.using(self.context) as session:
            return [
                dict(each._mapping) for each in session.execute(sa.select(
                    models.AggregateMetadata.__table__))]

    def _restore(self):
        table = models.AggregateMetadata.__table__
        with api_db.context_manager.writer.using(self.context) as session:
            session.execute(sa.delete(table))
            session.execute(sa.insert(table), self.rows)

    def _write(self, aggregate, key, value):
        table = models.AggregateMetadata.__table__
        with api_db.context_manager.writer.using(self.context) as session:
            session.execute(sa.delete(table).where(
                table.c.aggregate_id == self.ids[aggregate],
                table.c.key == key))
            if value is not MISSING:
                session.execute(sa.insert(table).values(
                    aggregate_id=self.ids[aggregate], key=key, value=value))

    def _reads(self):
        for path in ('/os-pclouds?all_tenants=1', self.path,
                     f'{self.path}/hosts', f'{self.path}/hosts/a',
                     f'{self.path}/tenants', f'{self.path}/explain?flavor=1',
                     f'{self.path}/rehearsal',
                     f'{self.path}/rehearsal?lose=rack',
                     '/os-host-flavors', '/os-host-flavors/gpu',
                     f'/os-pcloud-quotas/{base.ALICE}',
                     f'/os-pcloud-room?flavor=1&pcloud={self.pcloud}',
                     '/os-pcloud-attributes',
                     '/os-pcloud-policies/cloud/default?effective=1',
                     f'/os-pcloud-policies/project/{base.ALICE}?effective=1',
                     f'/os-pcloud-policies/pcloud/{self.pcloud}?effective=1'):
            yield self.admin, 'GET', path, None
        yield self.alice, 'POST', f'{self.path}/simulate', {'simulate': {
            'servers': [{'flavor': '1', 'count': 99}],
            'include_disabled': True}}
        for path in ('/os-pclouds', f'{self.path}/hosts', '/os-host-flavors'):
            yield self.alice, 'GET', path, None
        yield self.bob, 'GET', '/os-pclouds', None

    def _changes(self):
        """Yield calls that change rows at most, none of Placement's."""
        host = {'name': 'b', 'host_flavor': 'gpu'}
        for method, path, body in (
                ('POST', f'{self.path}/hosts', {'host': host}),
                ('POST', f'{self.path}/hosts', {'host': {
                    'name': 'b', 'constraints': 'cpu=999'}}),
                ('PUT', self.path, {'pcloud': {'name': 'mine'}}),
                ('DELETE', f'{self.path}/hosts/a', None),
                ('PUT', f'{self.path}/hosts/a', {
                    'host': {'state': 'enabled'}}),
                ('DELETE', self.path, None)):
            yield self.alice, method, path, body
        for method, path, body in (
                ('PUT', f'{self.path}/tenants/{base.CAROL}', None),
                ('PUT', '/os-host-flavors/gpu', {
                    'host_flavor': {'description': 'big'}}),
                ('DELETE', '/os-host-flavors/gpu', None),
                ('PUT', '/os-pcloud-attributes/hardware_class', {
                    'attribute': {'value': '4', 'hosts': ['node-3']}}),
                ('PUT', f'/os-pcloud-policies/pcloud/{self.pcloud}', {
                    'policy': {'constraints': 'cpu=2'}})):
            yield self.admin, method, path, body

    def _called(self, calls):
        """Yield what is wrong with the answers of calls."""
        for user, method, path, body in calls:
            response = user.call(method, path, body)
            shown = path.replace(self.pcloud, '<id>')
            if response.status_code >= 500:
                yield f'{method} {shown} answers {response.status_code}'
            elif response.text:
                try:
                    _strict(response.text)
                except ValueError as error:
                    yield f'{method} {shown} answers no JSON: {error}'

    def _found(self, keys, value):
        """Yield what is wrong with what audit finds."""
        try:
            found = all_checks.find(self.context, settle=0)
        except Exception as error:
            yield f'audit ends with {error!r}'
            return
        names = dict(self._names())
        for aggregate, key in keys:
            if value in KEYS[aggregate, key]:
                continue
            # What is kept of a host is found where the host is.
            there = {names[self.ids[aggregate]], names[self.ids[
                PCLOUD if aggregate == JOURNAL else aggregate]]}
            of_key = [
                each for each in found if each.kind in KINDS and
                each.aggregate in there and (
                    value is MISSING or key in each.subject or
                    each.subject in key or key in each.message)]
            if not of_key:
                yield f'audit does not name {key}'
            elif value and value.isprintable() and not any(
                    value[:SHOWN] in each.message for each in of_key):
                yield f'audit does not name the value of {key}'

    def _names(self):
        with api_db.context_manager.reader.using(self.context) as session:
            return session.execute(sa.select(
                models.Aggregate.id, models.Aggregate.name)).all()

    def _states(self):
        found = []
        aggregates = objects.AggregateList.get_all(self.context)
        for host in self.hosts:
            state = host_manager.HostState(
                host, f'{host}.hv.example.org', uuidsentinel.cell)
            state.aggregates = [each for each in aggregates
                                if host in each.hosts]
            state.total_usable_ram_mb = state.free_ram_mb = 8192
            state.total_usable_disk_gb = 100
            state.vcpus_total, state.vcpus_used = 8, 0
            state.disk_mb_used, state.num_instances = 0, 0
            state.cpu_allocation_ratio = state.ram_allocation_ratio = 1.0
            state.disk_allocation_ratio, state.metrics = 1.0, []
            found.append(state)
        return found

    def _placed(self, project, hints):
        """Return the hosts that pass all filters of Pcloud, and are weighed.

        What they raise is raised.
        """
        flavor = objects.Flavor.get_by_flavor_id(self.context, '1')
        spec = conductor.make(self.context, flavor, conductor.no_image(),
                              project, hints)
        states = self._states()
        kept = list(filters.pcloud.PcloudFilter().filter_all(states, spec))
        for each in filters.all_filters()[1:]:
            # To tell why there is no host is no failure.
            with contextlib.suppress(exception.NoValidHost):
                list(each().filter_all(states, spec))
        for each in weights.all_weighers():
            weigher = each()
            weigher.weigh_objects([nova_weights.WeighedHost(state, 0.0)
                                   for state in states], spec)
            for state in states:
                self.assertLess(abs(weigher.weight_multiplier(state)), 1e9)
        return {each.host for each in kept}

    def _opened(self, keys, value):
        """Yield what is wrong with what the filters let in."""
        inside = {'pcloud': [self.pcloud]}
        bad = {each for each in keys if value not in KEYS[each]}
        own = set() if bad & CLOSING else {'node-1'}
        bobs = set() if (PCLOUD, TENANT) in keys else own
        for project, hints, most in (
                (base.ALICE, inside, own), (base.BOB, inside, bobs),
                (base.CAROL, {}, {'node-3'})):
            try:
                more = self._placed(project, hints) - most
            except Exception as error:
                yield f'the scheduler ends with {error!r}'
            else:
                if more:
                    yield f'{project[0]} gets {sorted(more)} with {hints}'

    def _wrong(self, calls, keys, value):
        """Return what goes wrong when keys have a value."""
        for aggregate, key in keys:
            self._write(aggregate, key, value)
        try:
            return [(keys, value and value[:20], what) for what in (
                *self._opened(keys, value), *self._found(keys, value),
                *self._called(calls))]
        finally:
            self._restore()

    def _try(self, rounds, rubbish, calls):
        wrong = [what for keys, value in itertools.product(rounds, rubbish)
                 for what in self._wrong(calls(), keys, value)]
        self.assertEqual([], wrong, '\n'.join(map(str, wrong)))


class GuardTest(ValuesTestCase):
    """What Nova's own calls set goes past a guard."""

    def _set(self, aggregate_id, key, value):
        return self.admin.call(
            'POST', f'/os-aggregates/{aggregate_id}/action',
            {'set_metadata': {'metadata': {key: value}}}).status_code

    def test_refused_where_it_is_set(self):
        text = {'pcloud:node:node-1', 'pcloud:host:a', 'pcloud:scope_id',
                'pcloud:flavor_id', 'pcloud:attr:hardware_class'}
        for (aggregate, key), right in KEYS.items():
            for value in ('abc', 'nan', '-1', '1e400', '9' * 255):
                if value not in right and key not in text:
                    self.assertEqual(
                        400, self._set(self.ids[aggregate], key, value),
                        (key, value))
        self.assertEqual(self.rows, self._all_rows())

    def test_repairs_are_let_through(self):
        for value in ('abc', 'nan'):
            for aggregate, key, right in (
                    (PCLOUD, 'cpu_allocation_ratio', '4'),
                    (PCLOUD, f'pcloud:host_state:{NODE}', 'disabled'),
                    (POOL, 'pcloud:units', '1'),
                    (PROJECT, 'pcloud:quota:units', '5'),
                    (JOURNAL, 'pcloud:due:node-1', None)):
                self._write(aggregate, key, value)
                self.assertEqual(
                    200, self._set(self.ids[aggregate], key, right), key)
        self._restore()

    def test_what_is_not_ours_is_let_through(self):
        for aggregate in (RACK, POOL, PROJECT):
            self.assertEqual(200, self._set(
                self.ids[aggregate], 'cpu_allocation_ratio', 'abc'))
        # Whoever may not set it learns nothing from its being wrong.
        self.assertEqual({403}, {
            self.alice.call(
                'POST', f'/os-aggregates/{number}/action', {'set_metadata': {
                    'metadata': {'cpu_allocation_ratio': 'abc'}}}
            ).status_code for number in (self.ids[PCLOUD], 999)})

    def test_no_spelling_of_an_id_gets_past(self):
        number = self.ids[PCLOUD]
        for spelled in (f'{number:010}', f'+{number}', f'%20{number}',
                        f'{number}_0', f'0{number}'):
            response = self.admin.call(
                'POST', f'/os-aggregates/{spelled}/action', {'set_metadata': {
                    'metadata': {'cpu_allocation_ratio': 'abc'}}})
            self.assertEqual(400, response.status_code, spelled)
            self.assertIn('abc', response.text)
        self.assertEqual(self.rows, self._all_rows())

    def test_owner_sets_it_right(self):
        self._write(PCLOUD, 'cpu_allocation_ratio', 'abc')
        self.boot(self.alice, {'pcloud': self.pcloud}, 'ERROR')
        for value in (2.0, None):
            shown = self.alice.call_json('PUT', self.path, {
                'pcloud': {'cpu_allocation_ratio': value}})['pcloud']
            self.assertEqual(value, shown['cpu_allocation_ratio'])
        self.boot(self.alice, {'pcloud': self.pcloud})
        self.assertEqual([], all_checks.find(self.context, settle=0))
