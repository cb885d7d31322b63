# SPDX-License-Identifier: Apache-2.0

"""Clouds in which somebody has written anything, and the slow way to read.

The rows of a cloud contradict each other: hosts are spelled in several ways,
are in several aggregates, or have no service, no node, or several nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import random

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models as main_models
from nova import objects
from oslo_db import exception as db_exc
from oslo_utils import timeutils
from oslo_utils import uuidutils
import sqlalchemy as sa

from pcloud.backend.changes import due
from pcloud import names
from pcloud.rules.placing import colocation

FLAVORS = ('a', 'b', 'A', 'b.c', 'large')
_ZONES = ('az1', 'az2', '')
_TYPES = (names.TYPE_POOL, names.TYPE_PCLOUD, names.TYPE_POLICY,
          names.TYPE_ATTRIBUTE, 'Pcloud', 'HOST_FLAVOR_POOL', 'x')
_NUMBERS = ('1', '2', '0', '-1', 'x', '', '9' * 30)
PROJECTS = ('o', 'p', '\u00e9')
NOVA_FLAVORS = ('tiny', 'small', 'big')
SPEC = colocation.EXTRA_SPEC
_RATIOS = ('1.5', '16', 'x', 'nan', '')
_PREFIXES = (names.PREFIX, 'pcloud:', names.POOL_PREFIX, names.POLICY_PREFIX,
             names.ATTRIBUTE_PREFIX, '')


class OddCloud:
    """Rows that are written into the databases of a cloud.

    :param cells: the cells
    :param chance: the source of randomness
    :param hosts: how many hosts there are
    """

    def __init__(
        self, cells: Sequence[objects.CellMapping], chance: random.Random,
        hosts: int,
    ) -> None:
        self._cells = cells
        self._chance = chance
        self._context = nova_context.get_admin_context()
        self._now = timeutils.utcnow()
        self._hosts = [f'h-{number}' for number in range(hosts)]
        self._hosts += ['h \u00f6', 'h,1', "h'1", 'h\\', "h\\'", 'h%s', 'h:x']
        if self._has(0.2):
            self._hosts.append('h\n1')

    def _has(self, probability: float) -> bool:
        return self._chance.random() < probability

    def _spelled(self, text: str) -> str:
        return text.upper() if self._has(0.04) else text

    def _sample(self, share: float) -> list[str]:
        return [self._spelled(host) for host in self._hosts
                if self._has(share)]

    def fill(self) -> None:
        """Write all rows in place of the rows of another odd cloud."""
        for cell in self._cells:
            with nova_context.target_cell(self._context, cell) as context:
                with main_db.get_context_manager(context).writer.using(
                        context) as session:
                    for model in (main_models.Service, main_models.Instance,
                                  main_models.ComputeNode):
                        session.execute(sa.delete(model))
        with api_db.context_manager.writer.using(self._context) as session:
            for model in (api_models.AggregateMetadata,
                          api_models.AggregateHost, api_models.Aggregate,
                          api_models.HostMapping, api_models.FlavorProjects,
                          api_models.FlavorExtraSpecs, api_models.Flavors):
                session.execute(sa.delete(model))
        self._write_hosts()
        self._write_aggregates()
        self._write_flavors()

    def _write_hosts(self) -> None:
        for number, host in enumerate(self._hosts):
            cell = self._chance.choice(self._cells)
            if self._has(0.95):
                self._insert(api_models.HostMapping, cell_id=cell.id,
                             host=self._spelled(host))
            if self._has(0.05):
                cell = self._chance.choice(self._cells)
            with nova_context.target_cell(self._context, cell) as context:
                self._write_host(context, number, host)

    def _write_host(self, context, number: int, host: str) -> None:
        for _ in range(self._chance.choice((0, *[1] * 20))):
            self._insert_into(
                context, main_models.Service, host=self._spelled(host),
                topic='compute', report_count=1,
                binary=self._chance.choice(['nova-compute'] * 20 + ['x']),
                deleted=self._chance.choice([0] * 20 + [1]),
                disabled=self._chance.choice([False] * 9 + [True, None]),
                forced_down=self._chance.choice([False] * 9 + [True, None]),
                created_at=self._time(), uuid=uuidutils.generate_uuid(),
                last_seen_up=self._chance.choice([self._time(), None]))
        size = self._size()
        for node in range(self._chance.choice((0, *[1] * 12, 2, 2))):
            if self._has(0.5):
                size = self._size()
            self._insert_into(
                context, main_models.ComputeNode, host=self._spelled(host),
                hypervisor_hostname=f'n-{number}' + '+' * node,
                vcpus_used=0, memory_mb_used=0, local_gb_used=0, **size,
                hypervisor_type='', hypervisor_version=1, cpu_info='',
                deleted=self._chance.choice([0] * 20 + [1]),
                uuid=uuidutils.generate_uuid())
        if self._has(0.1):
            self._insert_into(context, main_models.Instance, host=host,
                              uuid=uuidutils.generate_uuid())

    def _size(self) -> dict[str, int]:
        return {name: self._chance.randint(1, 3)
                for name in ('vcpus', 'memory_mb', 'local_gb')}

    def _time(self) -> datetime.datetime:
        """Return a time at which a service that is up reports, or not."""
        return self._now + datetime.timedelta(
            seconds=self._chance.choice([0] * 20 + [-10 ** 8, 10 ** 8]))

    def _write_aggregates(self) -> None:
        for flavor in FLAVORS:
            metadata = {
                names.TYPE: names.TYPE_POOL, names.FLAVOR_ID: flavor,
                names.UNITS: self._chance.choice('12'),
                names.DESCRIPTION: 'text'}
            self._write_aggregate(names.pool(self._spelled(flavor)),
                                  self._marred(metadata), self._sample(0.3))
        kept: dict[str, str] = {}
        for _ in range(6):
            pcloud_id = uuidutils.generate_uuid()
            metadata = {
                names.TYPE: names.TYPE_PCLOUD, names.ID: pcloud_id,
                names.NAME: self._chance.choice(('mine', 'a\nb', '\u00f6')),
                names.OWNER: self._chance.choice((*PROJECTS, 'O')),
                names.CPU_RATIO: self._chance.choice(_RATIOS),
                names.state_key('n-1'): 'enabled'}
            hosts = self._sample(0.05)
            kept |= {
                names.replaces_key(host): self._stand_in(hosts)
                for host in hosts if self._has(0.5)}
            if self._has(0.3):
                metadata['availability_zone'] = 'az1'
            projects = [*PROJECTS, 'a:b']
            if self._has(0.1):
                # The key of this tenant is the key of the Pcloud's id.
                projects.append('id')
            for project in projects:
                metadata[self._spelled(names.TENANT_PREFIX + project)] = (
                    self._spelled(self._chance.choice(
                        (names.TENANT_VALUE, 'x'))))
            self._write_aggregate(names.pcloud(pcloud_id),
                                  self._marred(metadata), hosts)
        for number, zone in enumerate((*_ZONES, 'az2')):
            self._write_aggregate(f'zone {number}', self._marred({
                self._spelled('availability_zone'): zone}),
                self._sample(0.25))
        for number in range(8):
            self._write_aggregate(
                self._chance.choice(_PREFIXES) + f'{number}', self._marred({
                    names.TYPE: self._chance.choice(_TYPES),
                    names.attribute_key('rack'): f'r{number % 3}'}),
                self._sample(0.05))
        self._write_aggregate(names.JOURNAL, {
            names.TYPE: names.TYPE_JOURNAL, **kept,
            **{names.due_key(host): self._due()
               for host in self._sample(0.1)}}, [])

    def _write_flavors(self) -> None:
        for name in NOVA_FLAVORS:
            # Everybody sees the extra spec of one flavor.
            is_seen = name == NOVA_FLAVORS[0]
            id_ = self._insert(
                api_models.Flavors, name=name, flavorid=name, memory_mb=1,
                vcpus=1, root_gb=0, ephemeral_gb=0, swap=0, rxtx_factor=1,
                vcpu_weight=0, disabled=False,
                is_public=is_seen or self._has(0.5))
            for key in (SPEC, 'x', SPEC.upper()):
                if is_seen and key == SPEC or self._has(0.5):
                    self._insert(
                        api_models.FlavorExtraSpecs, flavor_id=id_, key=key,
                        value=self._chance.choice(('always', 'never')))
            for project in PROJECTS:
                if self._has(0.3):
                    self._insert(api_models.FlavorProjects, flavor_id=id_,
                                 project_id=project)

    def _marred(self, metadata: Mapping[str, str]) -> dict[str, str]:
        """Return metadata that may have lost or changed some entries."""
        found = {}
        for key, value in metadata.items():
            if self._has(0.97):
                found[self._spelled(key) if self._has(0.5) else key] = (
                    self._chance.choice((*_TYPES, *_NUMBERS))
                    if self._has(0.03) else value)
        return found

    def _due(self) -> str:
        """Return what is due for a host."""
        return self._chance.choice(['rubbish', due.Due(
            '0' * due.MARK_LENGTH,
            service=due.ON if self._has(0.3) else None,
            since=self._chance.choice([None, 1, 2 ** 30])).text()])

    def _stand_in(self, hosts: Sequence[str]) -> str:
        """Return for whom a host stands in; not every host can be written."""
        host = self._chance.choice(hosts)
        return self._chance.choice(
            [f'host={host}'] * 3 + [
                f'over=1 host={host}', f'spare=1 host={host}', host])

    def _write_aggregate(
        self, name: str, metadata: Mapping[str, str], hosts: Sequence[str],
    ) -> None:
        id_ = self._insert(api_models.Aggregate, name=name,
                           uuid=uuidutils.generate_uuid())
        if id_ is None:
            return
        for key, value in metadata.items():
            self._insert(api_models.AggregateMetadata, aggregate_id=id_,
                         key=key, value=value)
        for host in hosts:
            # Nova's own call leaves no time of an update. A chance of its own
            # leaves the rest of the cloud as it is.
            self._insert(
                api_models.AggregateHost, aggregate_id=id_, host=host,
                updated_at=random.Random(f'{id_} {host}').choice(
                    [None, *[timeutils.utcnow()] * 3]))

    def _insert(self, model, **values) -> int | None:
        with api_db.context_manager.writer.using(self._context) as session:
            return _insert(session, model, values)

    def _insert_into(self, context, model, **values) -> None:
        with main_db.get_context_manager(context).writer.using(
                context) as session:
            _insert(session, model, values)


def _insert(session, model, values: Mapping[str, object]) -> int | None:
    """Insert a row, unless the database takes another row for the same."""
    try:
        with session.begin_nested():
            return session.execute(
                sa.insert(model).values(**values)).inserted_primary_key[0]
    except db_exc.DBDuplicateEntry:
        return None
