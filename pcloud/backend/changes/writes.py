# SPDX-License-Identifier: Apache-2.0
"""Write the rows of aggregates, within one change."""

from collections.abc import Collection
from collections.abc import Mapping
import datetime

from nova.db.api import models
from oslo_db import exception as db_exc
from oslo_utils import timeutils
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend.changes import due
from pcloud import exception
from pcloud import names
from pcloud.rules.moving import maintenance_policies

_AGGREGATE = models.Aggregate
_MEMBER = models.AggregateHost
_ROW = models.AggregateMetadata


class Again(Exception):
    """What a change relied upon is gone; the change may be repeated."""


class Rows:
    """Writes rows in the transaction of one change.

    Where an id of an aggregate is asked for together with metadata keys, the
    keys of the journal are looked for and written in the journal, see
    `names.is_of_journal`, and only all other keys in the aggregate.

    :ivar mark: the mark of the present attempt of the change
    :ivar before: ``journal key of an anchor -> newest mark before the change``
    """

    def __init__(
        self, session: orm.Session, journal_id: int, mark: str,
        before: Mapping[str, str | None],
    ) -> None:
        self._session = session
        self._journal_id = journal_id
        self.mark = mark
        self.before = before

    def find(self, name: str) -> sa.Row | None:
        """Return id, uuid and name of an aggregate by name, or None.

        Databases that compare without case find other aggregates too.
        """
        return self._session.execute(sa.select(
            _AGGREGATE.id, _AGGREGATE.uuid, _AGGREGATE.name,
        ).where(_AGGREGATE.name == name)).first()

    def create(self, uuid: str, name: str, metadata: Mapping[str, str]) -> int:
        """Create an aggregate, and return the aggregate's id in the database.

        :raises: `exception.AggregateNameTaken`
        """
        try:
            made = self._session.execute(sa.insert(_AGGREGATE).values(
                uuid=uuid, name=name))
        except db_exc.DBDuplicateEntry as error:
            raise exception.AggregateNameTaken(name=name) from error
        aggregate_id, = made.inserted_primary_key
        self.insert(aggregate_id, metadata)
        return aggregate_id

    def delete(self, aggregate_id: int) -> bool:
        """Delete an aggregate without hosts.

        :returns: False when the aggregate has hosts; nothing is deleted then
        """
        members = sa.select(sa.func.count()).where(
            _MEMBER.aggregate_id == aggregate_id)
        if self._session.scalar(members):
            return False
        self._session.execute(sa.delete(_ROW).where(
            _ROW.aggregate_id == aggregate_id))
        self._session.execute(sa.delete(_AGGREGATE).where(
            _AGGREGATE.id == aggregate_id))
        return True

    def touch(self, aggregate_id: int) -> None:
        """Note in an aggregate's own row that the aggregate has changed.

        :raises: `exception.AggregateGone`
        """
        if not self._session.execute(sa.update(_AGGREGATE).where(
                _AGGREGATE.id == aggregate_id).values(
                    updated_at=timeutils.utcnow())).rowcount:
            raise exception.AggregateGone()

    def join(self, aggregate_id: int, host: str) -> None:
        """Put a host into an aggregate.

        The membership is registered, see `pool_rows.unregistered`.

        :raises: `exception.HostInAggregate`, `exception.AggregateGone`
        """
        try:
            self._session.execute(sa.insert(_MEMBER).values(
                aggregate_id=aggregate_id, host=host,
                updated_at=timeutils.utcnow()))
        except db_exc.DBDuplicateEntry as error:
            raise exception.HostInAggregate() from error
        except db_exc.DBReferenceError as error:
            raise exception.AggregateGone() from error

    def register(
        self, aggregate_id: int, host: str,
    ) -> datetime.datetime | None:
        """Note that a change of Pcloud has seen a host in an aggregate.

        :returns: when the host entered the aggregate; None when an earlier
            change has seen the host, or the host is gone
        """
        now, here = timeutils.utcnow(), sa.and_(
            _MEMBER.aggregate_id == aggregate_id, _MEMBER.host == host)
        if not self._session.execute(sa.update(_MEMBER).where(
                here, _MEMBER.updated_at.is_(None),
        ).values(updated_at=now)).rowcount:
            return None
        return self._session.scalar(
            sa.select(_MEMBER.created_at).where(here)) or now

    def leave(self, aggregate_id: int, hosts: Collection[str]) -> int:
        """Take hosts out of an aggregate; return how many hosts have left."""
        return self._session.execute(sa.delete(_MEMBER).where(
            _MEMBER.aggregate_id == aggregate_id,
            _MEMBER.host.in_(hosts))).rowcount

    def insert(
        self, aggregate_id: int, metadata: Mapping[str, str],
    ) -> None:
        """Write new metadata keys (one statement).

        :raises: `exception.KeyTaken` when a key exists, also in another letter
            case where the database compares without case;
            `exception.AggregateGone`
        """
        rows = [{'aggregate_id': self._home(aggregate_id, key), 'key': key,
                 'value': value} for key, value in metadata.items()]
        if not rows:
            return
        try:
            self._session.execute(sa.insert(_ROW), rows)
        except db_exc.DBDuplicateEntry as error:
            raise exception.KeyTaken() from error
        except db_exc.DBReferenceError as error:
            raise exception.AggregateGone() from error

    def _home(self, aggregate_id: int, key: str) -> int:
        """Return the id of the aggregate that has a key."""
        return self._journal_id if names.is_of_journal(key) else aggregate_id

    def _are(
        self, aggregate_id: int, keys: Collection[str],
    ) -> sa.ColumnElement[bool]:
        """Return the condition that a row has one of some keys."""
        keys_of: dict[int, list[str]] = {}
        for key in keys:
            keys_of.setdefault(self._home(aggregate_id, key), []).append(key)
        return sa.or_(sa.false(), *(
            sa.and_(_ROW.aggregate_id == id_, _ROW.key.in_(its))
            for id_, its in keys_of.items()))

    def set(
        self, aggregate_id: int, metadata: Mapping[str, str | None],
    ) -> None:
        """Write metadata keys, whatever the old values; None deletes a key."""
        self.drop(aggregate_id, metadata)
        self.insert(aggregate_id, {key: value for key, value
                                   in metadata.items() if value is not None})

    def has(self, aggregate_id: int, key: str, value: str) -> bool:
        """Whether a metadata key has a certain value."""
        return self._session.scalar(sa.select(sa.exists().where(
            self._are(aggregate_id, [key]), _ROW.value == value)))

    def exchange(
        self, aggregate_id: int, key: str, value: str,
    ) -> bool:
        """Change the value of an existing metadata key.

        :returns: False when the key does not exist
        """
        return self._session.execute(sa.update(_ROW).where(
            self._are(aggregate_id, [key]),
        ).values(value=value)).rowcount == 1

    def drop(self, aggregate_id: int, keys: Collection[str]) -> int:
        """Delete metadata keys; return the number of deleted keys."""
        return self._session.execute(sa.delete(_ROW).where(
            self._are(aggregate_id, keys))).rowcount

    def drop_if(self, aggregate_id: int, key: str, value: str) -> bool:
        """Delete a metadata key if it has a certain value."""
        return self._session.execute(sa.delete(_ROW).where(
            self._are(aggregate_id, [key]), _ROW.value == value)).rowcount == 1

    def write_kept(self, metadata: Mapping[str, str]) -> None:
        """Write new keys of the journal, as `insert` does."""
        self.insert(self._journal_id, metadata)

    def exchange_kept(self, key: str, value: str) -> None:
        """Change the value of an existing key of the journal."""
        self.exchange(self._journal_id, key, value)

    def drop_kept(self, key: str, value: str) -> bool:
        """Delete a key of the journal if the key has a certain value."""
        return self.drop_if(self._journal_id, key, value)

    def drop_prefixes(
        self, aggregate_id: int, prefixes: Collection[str],
    ) -> None:
        """Delete all metadata keys with certain prefixes."""
        self._session.execute(sa.delete(_ROW).where(
            _ROW.aggregate_id == aggregate_id,
            sa.or_(sa.false(), *(_ROW.key.startswith(prefix, autoescape=True)
                                 for prefix in prefixes))))

    def free_name(
        self, aggregate_id: int, name: str, host: str, node: str,
    ) -> dict[str, str] | None:
        """Make sure that a host's name and rows are free in a Pcloud.

        A name whose host has left the Pcloud, for example because Nova has
        deleted the host's compute service, is free. The rows that such a host
        has left are deleted, also when it is the host that is to join; so is
        what says that another host of the Pcloud stands in for it.

        :param name: the owner's name for the host, in any letter case
        :param host: the service host that is to have the name
        :param node: the hypervisor hostname of this host
        :returns: the deleted rows of the host that is to join; None when a
            host of the Pcloud has the name, and nothing is deleted
        :raises: `exception.Conflict` as `nodes`
        """
        wanted = names.host_key(name).lower()
        own = [names.state_key(node), *names.kept_keys(host),
               names.unopened_key(host), names.released_key(host),
               names.span_key(host)]
        found = self._session.execute(sa.select(_ROW.key, _ROW.value).where(
            sa.or_(
                self._are(aggregate_id, own),
                sa.and_(_ROW.aggregate_id == aggregate_id, sa.or_(
                    sa.func.lower(_ROW.key) == wanted,
                    sa.and_(_ROW.key.startswith(
                        names.HOST_PREFIX, autoescape=True),
                        _ROW.value == node)))))).all()
        named = [row for row in found if row.key.lower() == wanted]
        if named and not self.nodes(aggregate_id).isdisjoint(
                row.value for row in named):
            return None
        # To delete nothing would lock a gap, and hold up other changes.
        # Databases that compare without case find rows of other hosts too.
        left = [row.key for row in found if row.key in own or row in named or
                row.key.startswith(names.HOST_PREFIX) and row.value == node
                ] + self._stand_ins(aggregate_id, host)
        if left:
            self.drop(aggregate_id, left)
        return {row.key: row.value for row in found if row.key in own}

    def _stand_ins(self, aggregate_id: int, host: str) -> list[str]:
        """Return the keys of hosts of a Pcloud that stand in for a host."""
        texts = [maintenance_policies.StandIn(stays=stays, host=host).text()
                 for stays in (False, True)]
        found = self._session.scalars(sa.select(_ROW.key).where(
            _ROW.aggregate_id == self._journal_id,
            _ROW.key.startswith(names.REPLACES_PREFIX, autoescape=True),
            _ROW.value.in_(texts))).all()
        if not found:
            return []
        members = self.members(aggregate_id)
        return [key for key in found
                if key.removeprefix(names.REPLACES_PREFIX) in members]

    def nodes(self, aggregate_id: int) -> frozenset[str]:
        """Return the hypervisor hostnames of the hosts of a Pcloud.

        :raises: `exception.Conflict` when the row of a host's node is lost
        """
        members = self.members(aggregate_id)
        node_of = names.nodes(self.values(
            aggregate_id, list(map(names.node_key, members))))
        if len(node_of) < len(members):
            raise exception.Conflict(
                'The rows of the Pcloud lack the node of a host; an '
                'administrator has to run pcloud-manage audit --fix first.')
        return frozenset(node_of.values())

    def members(self, aggregate_id: int) -> list[str]:
        """Return the hosts of an aggregate, within the transaction."""
        return sorted(self._session.scalars(sa.select(_MEMBER.host).where(
            _MEMBER.aggregate_id == aggregate_id)))

    def holds(self, aggregate_id: int, host: str) -> bool:
        """Whether a host is in an aggregate, within the transaction."""
        # Databases that compare without case find other hosts too.
        return host in self._session.scalars(sa.select(_MEMBER.host).where(
            _MEMBER.aggregate_id == aggregate_id, _MEMBER.host == host)).all()

    def metadata(self, aggregate_id: int) -> dict[str, str]:
        """Return the metadata of an aggregate, within the transaction.

        Nothing of the journal is among the metadata.
        """
        return dict(self._session.execute(
            sa.select(_ROW.key, _ROW.value).where(
                _ROW.aggregate_id == aggregate_id)).all())

    def values(
        self, aggregate_id: int, keys: Collection[str],
    ) -> dict[str, str]:
        """Return some metadata of an aggregate, within the transaction."""
        found = dict(self._session.execute(
            sa.select(_ROW.key, _ROW.value).where(
                self._are(aggregate_id, keys))).all())
        # Databases that compare without case find other keys too.
        return {key: found[key] for key in keys if key in found}

    def of_journal(self, prefixes: Collection[str]) -> dict[str, str]:
        """Return the rows of the journal whose keys have certain prefixes."""
        found = self._session.execute(sa.select(_ROW.key, _ROW.value).where(
            _ROW.aggregate_id == self._journal_id,
            sa.or_(*(_ROW.key.startswith(prefix, autoescape=True)
                     for prefix in prefixes)))).all()
        # Databases that compare without case find other keys too.
        return {key: value for key, value in found
                if key.startswith(tuple(prefixes))}

    def journal_has(self, key: str, value: str) -> bool:
        """Whether a key of the journal has a certain value."""
        return self.has(self._journal_id, key, value)

    def kept(self, prefix: str) -> dict[str, str]:
        """Return what the journal keeps with a prefix, by the whole key."""
        return dict(self._session.execute(sa.select(
            _ROW.key, _ROW.value).where(
                _ROW.aggregate_id == self._journal_id,
                _ROW.key.startswith(prefix, autoescape=True))).all())

    def due_of(self, host: str) -> str | None:
        """Return what is due for a host, as written in the journal."""
        return self._session.scalar(sa.select(_ROW.value).where(
            _ROW.aggregate_id == self._journal_id,
            _ROW.key == names.due_key(host)))

    def open(self, host: str) -> bool:
        """Note that a host is enabled from now on.

        :returns: False when something is due for the host, which cannot be
            enabled then
        """
        due_key, unopened = names.due_key(host), names.unopened_key(host)
        there = self.values(self._journal_id, [due_key, unopened])
        if unopened in there:
            self.unmark([unopened])
        return due_key not in there

    def claim(
        self, host: str, what: due.Due,
        beside: Mapping[str, str] | None = None,
    ) -> None:
        """Write what is due for a host, to keep other changes off the host.

        :param beside: other rows that the journal is to have of the host;
            None for no other rows
        :raises: `exception.KeyTaken` when something is due for the host
            already, for example by another change at the same moment
        """
        self.insert(self._journal_id, {
            names.due_key(host): what.text(), **(beside or {})})

    def remind(self, hosts: Collection[str]) -> None:
        """Have hosts reconciled with the rows, in addition to what is due.

        :raises: `Again` when a reconciliation has just done what was due for a
            host
        """
        keys = [names.due_key(host) for host in hosts]
        there = set(self._session.scalars(sa.select(_ROW.key).where(
            _ROW.aggregate_id == self._journal_id, _ROW.key.in_(keys))))
        # The mark comes first and has a fixed length.
        begin = due.with_mark(self.mark)
        renewed = self._session.execute(sa.update(_ROW).where(
            _ROW.aggregate_id == self._journal_id, _ROW.key.in_(there),
        ).values(value=sa.literal(begin).concat(
            sa.func.substr(_ROW.value, len(begin) + 1))
        ).execution_options(synchronize_session=False)).rowcount
        try:
            self.insert(self._journal_id, {
                key: begin for key in keys
                if key not in there})
        except exception.KeyTaken as error:
            raise Again() from error
        if renewed != len(there):
            raise Again()

    def unmark(self, keys: Collection[str]) -> None:
        """Delete keys of hosts in the journal that are there."""
        # To delete nothing would lock a gap, and hold up other changes.
        if keys:
            self.drop(self._journal_id, keys)

    def forget(self, anchor: str) -> None:
        """Delete the marks of an anchor whose object the change deletes."""
        self.drop(self._journal_id, [names.CHANGES_PREFIX + anchor])
