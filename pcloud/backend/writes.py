# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
"""Write the rows of aggregates, within one change."""

from collections.abc import Collection
from collections.abc import Mapping

from nova.db.api import models
from oslo_db import exception as db_exc
from oslo_utils import timeutils
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend import due
from pcloud import exception
from pcloud import names

_AGGREGATE = models.Aggregate
_MEMBER = models.AggregateHost
_ROW = models.AggregateMetadata


class Again(Exception):
    """What a change relied upon has gone; the change may be done anew."""


class Rows:
    """Writes rows in the transaction of one change.

    :ivar mark: the mark of this attempt of the change
    :ivar before: the newest mark that each of its anchors had before, by
        the anchor's key in the journal
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
        """Return id, uuid and name of an aggregate that the database finds.

        Databases that compare without case find others too.
        """
        return self._session.execute(sa.select(
            _AGGREGATE.id, _AGGREGATE.uuid, _AGGREGATE.name,
        ).where(_AGGREGATE.name == name)).first()

    def create(self, uuid: str, name: str, metadata: Mapping[str, str]) -> int:
        """Make an aggregate, and return its id in the database.

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
        """Take note in an aggregate's own row that it has changed.

        :raises: `exception.AggregateGone`
        """
        if not self._session.execute(sa.update(_AGGREGATE).where(
                _AGGREGATE.id == aggregate_id).values(
                    updated_at=timeutils.utcnow())).rowcount:
            raise exception.AggregateGone()

    def join(self, aggregate_id: int, host: str) -> None:
        """Put a host into an aggregate.

        :raises: `exception.HostInAggregate`, `exception.AggregateGone`
        """
        try:
            self._session.execute(sa.insert(_MEMBER).values(
                aggregate_id=aggregate_id, host=host))
        except db_exc.DBDuplicateEntry as error:
            raise exception.HostInAggregate() from error
        except db_exc.DBReferenceError as error:
            raise exception.AggregateGone() from error

    def leave(self, aggregate_id: int, hosts: Collection[str]) -> int:
        """Take hosts out of an aggregate; return how many were in it."""
        return self._session.execute(sa.delete(_MEMBER).where(
            _MEMBER.aggregate_id == aggregate_id,
            _MEMBER.host.in_(hosts))).rowcount

    def insert(self, aggregate_id: int, metadata: Mapping[str, str]) -> None:
        """Write metadata keys that are not there yet.

        :raises: `exception.KeyTaken` when one of them is there, with its
            letter case or with another one where the database compares so;
            `exception.AggregateGone`
        """
        if not metadata:
            return
        try:
            self._session.execute(sa.insert(_ROW), [
                {'aggregate_id': aggregate_id, 'key': key, 'value': value}
                for key, value in metadata.items()])
        except db_exc.DBDuplicateEntry as error:
            raise exception.KeyTaken() from error
        except db_exc.DBReferenceError as error:
            raise exception.AggregateGone() from error

    def set(
        self, aggregate_id: int, metadata: Mapping[str, str | None],
    ) -> None:
        """Write metadata keys whatever they were; None deletes a key."""
        self.drop(aggregate_id, metadata)
        self.insert(aggregate_id, {key: value for key, value
                                   in metadata.items() if value is not None})

    def has(self, aggregate_id: int, key: str, value: str) -> bool:
        """Whether a metadata key has a certain value."""
        return self._session.scalar(sa.select(sa.exists().where(
            _ROW.aggregate_id == aggregate_id, _ROW.key == key,
            _ROW.value == value)))

    def exchange(
        self, aggregate_id: int, key: str, value: str,
    ) -> bool:
        """Change the value of a metadata key that is there.

        :returns: False when the key is not there
        """
        return self._session.execute(sa.update(_ROW).where(
            _ROW.aggregate_id == aggregate_id, _ROW.key == key,
        ).values(value=value)).rowcount == 1

    def drop(self, aggregate_id: int, keys: Collection[str]) -> int:
        """Delete metadata keys; return how many there were."""
        return self._session.execute(sa.delete(_ROW).where(
            _ROW.aggregate_id == aggregate_id,
            _ROW.key.in_(list(keys)))).rowcount

    def drop_if(self, aggregate_id: int, key: str, value: str) -> bool:
        """Delete a metadata key if it has a certain value."""
        return self._session.execute(sa.delete(_ROW).where(
            _ROW.aggregate_id == aggregate_id, _ROW.key == key,
            _ROW.value == value)).rowcount == 1

    def drop_prefixes(
        self, aggregate_id: int, prefixes: Collection[str],
    ) -> None:
        """Delete all metadata keys with certain prefixes."""
        self._session.execute(sa.delete(_ROW).where(
            _ROW.aggregate_id == aggregate_id,
            sa.or_(sa.false(), *(_ROW.key.startswith(each, autoescape=True)
                                 for each in prefixes))))

    def free_name(self, aggregate_id: int, name: str) -> bool:
        """Make sure that an owner's host name is free in a Pcloud.

        A name whose host is not in the Pcloud any more, as when Nova has
        deleted its service, is free, and its row is deleted.

        :param name: in any letter case
        :returns: False when a host of the Pcloud has the name
        :raises: `exception.NodesUnknown`
        """
        key = sa.func.lower(_ROW.key)
        found = self._session.execute(sa.select(_ROW.key, _ROW.value).where(
            _ROW.aggregate_id == aggregate_id,
            key == names.host_key(name).lower())).first()
        if found is None:
            return True
        if found.value in self.nodes(aggregate_id):
            return False
        self.drop(aggregate_id, [found.key])
        return True

    def nodes(self, aggregate_id: int) -> Collection[str]:
        """Return the hypervisor hostnames of the hosts of a Pcloud.

        :raises: `exception.NodesUnknown` when the rows do not tell of a host
            that was added by an earlier version
        """
        node_of = names.nodes(dict(self._session.execute(
            sa.select(_ROW.key, _ROW.value).where(
                _ROW.aggregate_id == aggregate_id,
                _ROW.key.startswith(names.NODE_PREFIX, autoescape=True))
        ).all()))
        try:
            return {node_of[host] for host in self.members(aggregate_id)}
        except KeyError as error:
            raise exception.NodesUnknown() from error

    def members(self, aggregate_id: int) -> list[str]:
        """Return the hosts of an aggregate as this change sees them."""
        return sorted(self._session.scalars(sa.select(_MEMBER.host).where(
            _MEMBER.aggregate_id == aggregate_id)))

    def metadata(self, aggregate_id: int) -> dict[str, str]:
        """Return the metadata of an aggregate as this change sees them."""
        return dict(self._session.execute(
            sa.select(_ROW.key, _ROW.value).where(
                _ROW.aggregate_id == aggregate_id)).all())

    def due_of(self, host: str) -> str | None:
        """Return what is due for a host, as it is written."""
        return self._session.scalar(sa.select(_ROW.value).where(
            _ROW.aggregate_id == self._journal_id,
            _ROW.key == names.due_key(host)))

    def claim(self, host: str, what: due.Due) -> None:
        """Write what is due for a host, and so keep other changes off it.

        :raises: `exception.KeyTaken` when something is due for it already,
            as another change has it at this moment
        """
        self.insert(self._journal_id, {names.due_key(host): str(what)})

    def remind(self, hosts: Collection[str]) -> None:
        """Have hosts reconciled with their rows, beside what is due anyway.

        :raises: `Again` when what was due for a host was done at this very
            moment
        """
        keys = [names.due_key(host) for host in hosts]
        there = set(self._session.scalars(sa.select(_ROW.key).where(
            _ROW.aggregate_id == self._journal_id, _ROW.key.in_(keys))))
        # The mark stands first and has a fixed length.
        begin = due.with_mark(self.mark)
        renewed = self._session.execute(sa.update(_ROW).where(
            _ROW.aggregate_id == self._journal_id, _ROW.key.in_(there),
        ).values(value=sa.literal(begin).concat(
            sa.func.substr(_ROW.value, len(begin) + 1))
        ).execution_options(synchronize_session=False)).rowcount
        try:
            self.insert(self._journal_id, {
                key: str(due.Due(self.mark)) for key in keys
                if key not in there})
        except exception.KeyTaken as error:
            raise Again() from error
        if renewed != len(there):
            raise Again()

    def forget(self, anchor: str) -> None:
        """Delete the marks of an anchor that this change deletes."""
        self.drop(self._journal_id, [names.CHANGES_PREFIX + anchor])
