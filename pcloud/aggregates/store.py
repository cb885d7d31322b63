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

"""Write Pcloud's aggregates: the only place that changes Nova's state.

Membership goes through Nova's ``AggregateAPI``, which also mirrors it to
Placement and sends Nova's notifications. Metadata that requests may fight
over are written as single rows, each a compare-and-set, because the unique
(aggregate, key) decides such fights where ``update_metadata`` overwrites.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping

from nova.compute import api as compute
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from nova import exception as nova_exception
from nova import objects
from nova.scheduler.client import report
from oslo_db import api as oslo_db_api
from oslo_db import exception as db_exc
from oslo_log import log as logging
from oslo_utils import timeutils
import sqlalchemy as sa
import tenacity

from pcloud import exception

LOG = logging.getLogger(__name__)

# What Nova raises when it could not tell Placement of a membership.
_MIRROR_ERRORS = (
    nova_exception.PlacementAPIConnectFailure,
    nova_exception.ResourceProviderAggregateRetrievalFailed,
    nova_exception.ResourceProviderNotFound,
    nova_exception.ResourceProviderRetrievalFailed,
    nova_exception.ResourceProviderUpdateConflict,
    nova_exception.ResourceProviderUpdateFailed,
)

# Whatever was under way has been rolled back, and all of it may be done
# again; Nova itself does not do that for aggregates.
_retry_deadlock = oslo_db_api.wrap_db_retry(
    max_retries=10, retry_interval=0.05, inc_retry_interval=True,
    max_retry_interval=1, retry_on_deadlock=True)


# Of requests that fight over one host all but one meet a conflict each time;
# Nova gives up after the fourth.
_retry_conflict = tenacity.retry(
    # Placement answers 500 when its database breaks a deadlock.
    retry=tenacity.retry_if_exception_type(
        (nova_exception.ResourceProviderUpdateConflict,
         nova_exception.ResourceProviderUpdateFailed)),
    wait=tenacity.wait_random(0, 0.3), stop=tenacity.stop_after_attempt(20),
    reraise=True)


class _Twin(Exception):
    """A key was written whose twin in another letter case is there."""


def _admin(context: nova_context.RequestContext):
    """Return a copy for Nova's use: Nova points it at cells as it goes."""
    return context.elevated()


@_retry_deadlock
def create(
    context: nova_context.RequestContext, name: str, metadata: dict,
) -> bool:
    """Make an aggregate with its metadata, all or nothing.

    ``AggregateAPI.create_aggregate`` would write the name first and the
    metadata later, and a crash in between would leave half of it.

    :returns: False when there is one of that name already
    """
    admin = _admin(context)
    aggregate = objects.Aggregate(admin, name=name, metadata=metadata)
    try:
        aggregate.create()
    except (nova_exception.AggregateNameExists, db_exc.DBDuplicateEntry):
        return False
    compute.AggregateAPI().query_client.update_aggregates(admin, [aggregate])
    return True


@_retry_deadlock
def delete(context: nova_context.RequestContext, aggregate_id: int) -> bool:
    """Delete an aggregate.

    :returns: False when it has hosts; also when one came in while the call
        was under way, where the database keeps foreign keys
    """
    try:
        compute.AggregateAPI().delete_aggregate(_admin(context), aggregate_id)
    except nova_exception.AggregateNotFound:
        LOG.info('Aggregate %d was deleted by somebody else.', aggregate_id)
    except (nova_exception.InvalidAggregateActionDelete,
            db_exc.DBReferenceError):
        return False
    return True


@_retry_deadlock
def add_host(
    context: nova_context.RequestContext, aggregate_id: int, uuid: str,
    host: str, node: str,
) -> None:
    """Put a host into an aggregate, in Nova and in Placement.

    Nova goes on when Placement cannot be told; then a Pcloud's host would be
    invisible, and a pool's host not forbidden. So Placement is asked again
    here, which costs one read when all is well.

    :param uuid: the aggregate's uuid
    :param node: the host's hypervisor hostname
    :raises: `exception.ComputeHostNotFound`, `exception.AggregateGone`,
        `exception.HostInAggregate`, `exception.Unavailable` when Placement
        could not be told; the host is then in the aggregate all the same
    """
    try:
        compute.AggregateAPI().add_host_to_aggregate(
            _admin(context), aggregate_id, host)
    except (nova_exception.ComputeHostNotFound,
            nova_exception.HostMappingNotFound):
        raise exception.ComputeHostNotFound(host=host)
    except (nova_exception.AggregateNotFound, db_exc.DBReferenceError):
        raise exception.AggregateGone()
    except nova_exception.AggregateHostExists:
        raise exception.HostInAggregate()
    except _MIRROR_ERRORS as error:
        LOG.error('Placement could not be told of %(node)s: %(error)s',
                  {'node': node, 'error': error})
        raise exception.Unavailable() from error
    publish(context, aggregate_id)
    mirror(context, uuid, node)


def mirror(
    context: nova_context.RequestContext, uuid: str, node: str,
) -> None:
    """Make sure that Placement knows of a membership.

    :raises: `exception.Unavailable` when it cannot be told
    """
    client = report.report_client_singleton()
    _tell(client.aggregate_add_host, context, uuid, node)


def unmirror(
    context: nova_context.RequestContext, uuid: str, node: str,
) -> None:
    """Have Placement forget a membership.

    :raises: `exception.Unavailable` when it cannot be told
    """
    client = report.report_client_singleton()
    _tell(client.aggregate_remove_host, context, uuid, node)


def _tell(
    call: Callable, context: nova_context.RequestContext, uuid: str,
    node: str,
) -> None:
    try:
        _retry_conflict(call)(_admin(context), uuid, host_name=node)
    except _MIRROR_ERRORS as error:
        LOG.error('Placement could not be told of %(node)s and aggregate '
                  '%(uuid)s: %(error)s',
                  {'node': node, 'uuid': uuid, 'error': error})
        raise exception.Unavailable() from error


@_retry_deadlock
def remove_host(
    context: nova_context.RequestContext, aggregate_id: int, host: str,
) -> bool:
    """Take a host out of an aggregate, in Placement and in Nova.

    :returns: False when it was not in there
    :raises: `exception.Unavailable` when Placement cannot be told; then
        nothing has changed
    """
    remove = _retry_conflict(
        compute.AggregateAPI().remove_host_from_aggregate)
    try:
        remove(_admin(context), aggregate_id, host)
    except (nova_exception.AggregateNotFound,
            nova_exception.AggregateHostNotFound,
            nova_exception.ComputeHostNotFound):
        return False
    except _MIRROR_ERRORS as error:
        raise exception.Unavailable() from error
    publish(context, aggregate_id)
    return True


def let_go(
    context: nova_context.RequestContext, aggregate_id: int, host: str,
) -> None:
    """Take a host out again; where Placement is silent, in Nova alone.

    Should Placement know of it all the same, audit finds that.
    """
    try:
        remove_host(context, aggregate_id, host)
    except exception.Unavailable:
        _drop_host(context, aggregate_id, host)


@_retry_deadlock
def _drop_host(
    context: nova_context.RequestContext, aggregate_id: int, host: str,
) -> None:
    admin = _admin(context)
    try:
        objects.Aggregate.get_by_id(admin, aggregate_id).delete_host(host)
    except (nova_exception.AggregateNotFound,
            nova_exception.AggregateHostNotFound):
        return
    publish(context, aggregate_id)


def publish(
    context: nova_context.RequestContext, aggregate_id: int,
) -> None:
    """Tell all schedulers what an aggregate is like now.

    Nova sends the aggregate as it was when it began, so that of two changes
    at the same time one may be told to nobody.
    """
    admin = _admin(context)
    try:
        aggregate = objects.Aggregate.get_by_id(admin, aggregate_id)
    except nova_exception.AggregateNotFound:
        return
    compute.AggregateAPI().query_client.update_aggregates(admin, [aggregate])


@_retry_deadlock
def insert_metadata(
    context: nova_context.RequestContext, aggregate_id: int,
    key: str, value: str,
) -> bool:
    """Write a metadata key that is not there yet.

    :returns: False when it is there, in any letter case; of two requests at
        the same time only one gets True
    :raises: `exception.AggregateGone`
    """
    row = models.AggregateMetadata
    twins = sa.select(sa.func.count()).where(
        row.aggregate_id == aggregate_id, sa.func.lower(row.key) ==
        key.lower())
    try:
        with api_db.context_manager.writer.using(context) as session:
            session.execute(sa.insert(row).values(
                aggregate_id=aggregate_id, key=key, value=value))
            # The database holds the write lock by now (SQLite), or has
            # compared without case itself (MariaDB).
            if session.scalar(twins) != 1:
                raise _Twin()
    except (db_exc.DBDuplicateEntry, _Twin):
        return False
    except db_exc.DBReferenceError:
        raise exception.AggregateGone()
    return True


@_retry_deadlock
def change_metadata(
    context: nova_context.RequestContext, aggregate_id: int,
    key: str, value: str,
) -> bool:
    """Change the value of a metadata key that is there.

    :returns: False when it is not there
    """
    row = models.AggregateMetadata
    with api_db.context_manager.writer.using(context) as session:
        result = session.execute(
            sa.update(row).where(row.aggregate_id == aggregate_id,
                                 row.key == key).values(value=value))
        return result.rowcount == 1


@_retry_deadlock
def delete_metadata(
    context: nova_context.RequestContext, aggregate_id: int,
    key: str, value: str | None = None,
) -> bool:
    """Delete a metadata key, if it has a certain value or whatever it has.

    :param value: delete it only when it has this value
    :returns: False when there was nothing to delete; of two requests at the
        same time only one gets True
    """
    row = models.AggregateMetadata
    statement = sa.delete(row).where(row.aggregate_id == aggregate_id,
                                     row.key == key)
    if value is not None:
        statement = statement.where(row.value == value)
    with api_db.context_manager.writer.using(context) as session:
        return session.execute(statement).rowcount == 1


@oslo_db_api.wrap_db_retry(
    max_retries=10, retry_interval=0.05, inc_retry_interval=True,
    max_retry_interval=1, retry_on_deadlock=True,
    exception_checker=lambda error: isinstance(error,
                                               db_exc.DBDuplicateEntry))
def set_metadata(
    context: nova_context.RequestContext, aggregate_id: int,
    metadata: dict[str, str | None],
) -> None:
    """Write metadata keys whatever they were, all or none of them.

    Nova's own ``update_metadata`` deletes and writes in transactions of
    their own, and fails when another request deletes what it has just read.

    :param metadata: key to value; None deletes the key
    :raises: `exception.AggregateGone`
    """
    try:
        with api_db.context_manager.writer.using(context) as session:
            for key, value in metadata.items():
                _set_row(session, aggregate_id, key, value)
    except db_exc.DBReferenceError:
        raise exception.AggregateGone()
    publish(context, aggregate_id)


@_retry_deadlock
def replace_metadata(
    context: nova_context.RequestContext, aggregate_id: int,
    prefixes: Collection[str], metadata: Mapping[str, str],
) -> None:
    """Write metadata keys in place of all that have certain prefixes.

    Of requests at the same time one comes after the other, whole.

    :raises: `exception.AggregateGone`
    """
    row = models.AggregateMetadata
    old = sa.or_(sa.false(), *(row.key.startswith(prefix, autoescape=True)
                               for prefix in prefixes))
    with api_db.context_manager.writer.using(context) as session:
        # Whoever comes next waits here, and then sees what was written.
        if not session.execute(
                sa.update(models.Aggregate)
                .where(models.Aggregate.id == aggregate_id)
                .values(updated_at=timeutils.utcnow())).rowcount:
            raise exception.AggregateGone()
        session.execute(
            sa.delete(row).where(row.aggregate_id == aggregate_id, old))
        for key, value in metadata.items():
            _set_row(session, aggregate_id, key, value)
    publish(context, aggregate_id)


def _set_row(session, aggregate_id: int, key: str, value: str | None) -> None:
    row = models.AggregateMetadata
    here = sa.and_(row.aggregate_id == aggregate_id, row.key == key)
    if value is None:
        session.execute(sa.delete(row).where(here))
    elif not session.execute(
            sa.update(row).where(here).values(value=value)).rowcount:
        session.execute(sa.insert(row).values(
            aggregate_id=aggregate_id, key=key, value=value))
