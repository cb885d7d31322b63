# SPDX-License-Identifier: Apache-2.0

"""Have Nova move servers, as nova-api does for an administrator.

Nova's own update of the task state decides who is first: a server that is
busy by then is not moved.

Rule: reference-draining-moving
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Sequence

from nova import baserpc
from nova.compute import api as compute_api
from nova.compute import power_state
from nova.compute import vm_states
from nova import context as nova_context
from nova import objects
from nova.objects import fields
from nova.scheduler.client import report
from nova.scheduler import rpcapi
from oslo_utils import uuidutils

from pcloud.backend.calls import announce
from pcloud import exception

# The request id of everything that Pcloud asks of a server. Users cannot
# choose a request id.
REQUEST_PREFIX = 'req-pcloud-'

# The statuses of a migration that no hypervisor has begun with; Nova writes
# `running` before the hypervisor is asked. And what is migrated so.
NOT_BEGUN = ('accepted', 'queued', 'preparing', 'pre-migrating', 'migrating')
BEGUN = 'running'
MIGRATIONS = (fields.MigrationType.LIVE_MIGRATION,
              fields.MigrationType.MIGRATION)

# How often a broker is tried, instead of for ever.
_RETRIES = 1
# Seconds that a scheduler has to answer.
_PATIENCE = 10
# What every service of Nova answers to.
_PING = {'namespace': 'baseapi', 'version': '1.0', 'version_cap': None}


def _api() -> compute_api.API:
    return compute_api.API()


def _own(context: nova_context.RequestContext) -> nova_context.RequestContext:
    """Return a context with all rights, and with a request id of Pcloud."""
    own = context.elevated()
    own.request_id = f'{REQUEST_PREFIX}{uuidutils.generate_uuid()}'
    return own


def check_services(context: nova_context.RequestContext) -> None:
    """Make sure that nova-conductor can be asked, and has a scheduler to ask.

    Without a broker Nova would mark the server as busy, and wait for the
    broker. Without a scheduler Nova would take the server for broken.

    :raises: `exception.Unavailable` when the broker is away, or no scheduler
        answers
    """
    client = _api().compute_task_api.conductor_compute_rpcapi.client
    try:
        client.prepare(retry=_RETRIES, **_PING).cast(context, 'ping', arg={})
        baserpc.BaseAPI(topic=rpcapi.RPC_TOPIC).ping(
            context, 'pcloud', timeout=_PATIENCE)
    except announce.OUTAGES as error:
        raise exception.Unavailable() from error


def move_live(
    context: nova_context.RequestContext, server: str, target: str | None,
) -> None:
    """Have a running server migrated live; the call does not wait.

    :param server: the uuid
    :param target: the only service host that will do, None for any host that
        the scheduler finds
    :raises: `nova.exception.NovaException` when Nova refuses
    """
    own = _own(context)
    instance = _instance(own, server)
    _api().live_migrate(
        own, instance, block_migration=None, disk_over_commit=None,
        host_name=target, force=None if target is None else False,
        async_=True)


def move_cold(
    context: nova_context.RequestContext, server: str, target: str | None,
) -> None:
    """Have a stopped server migrated; the call does not wait.

    The migration has to be confirmed when it is finished.

    :param server: the uuid
    :param target: as for `move_live`
    :raises: `nova.exception.NovaException` when Nova refuses
    """
    own = _own(context)
    _api().resize(own, _instance(own, server), host_name=target)


def confirm(context: nova_context.RequestContext, server: str) -> None:
    """Confirm the migration of a server.

    :param server: the uuid
    :raises: `nova.exception.NovaException` when Nova refuses
    """
    own = _own(context)
    _api().confirm_resize(own, _instance(own, server))


def evacuate(context: nova_context.RequestContext, server: str) -> None:
    """Have a server of a failed host started anew; the call does not wait.

    The scheduler finds the host. A server that was stopped is stopped
    afterwards, and any other server runs: Nova keeps the state where the call
    names none, as the API did before 2.95. A server that is in error because
    an earlier evacuation has failed gets back the state that its power shows.

    :param server: the uuid
    :raises: `nova.exception.NovaException` when Nova refuses
    """
    own = _own(context)
    instance = _api().get(own, server, expected_attrs=[
        'flavor', 'trusted_certs', 'pci_requests', 'pci_devices',
        'resources', 'migration_context'])
    if instance.vm_state == vm_states.ERROR:
        instance.vm_state = (
            vm_states.STOPPED if instance.power_state == power_state.SHUTDOWN
            else vm_states.ACTIVE)
        instance.save(expected_vm_state=vm_states.ERROR,
                      expected_task_state=None)
    _api().evacuate(own, instance, host=None, on_shared_storage=None)


def forget_evacuation(
    context: nova_context.RequestContext, server: str,
) -> None:
    """Let a server that no host starts be evacuated again.

    :param server: the uuid
    :raises: `nova.exception.NovaException` when a host starts it after all
    """
    own = _own(context)
    instance = _instance(own, server)
    # The context is the context of the server's cell by now.
    for migration in objects.MigrationList.get_by_filters(own, {
            'instance_uuid': server, 'status': 'accepted',
            'migration_type': fields.MigrationType.EVACUATION}):
        migration.status = 'error'
        migration.save()
    _forget(instance)


def forget_move(context: nova_context.RequestContext, server: str) -> None:
    """Let a server that nobody moves be moved again.

    :param server: the uuid
    :raises: `nova.exception.NovaException` when the server is moved after all
    """
    _forget_migrations(_own(context), server, NOT_BEGUN)


def forget_failed_move(
    context: nova_context.RequestContext, server: str,
) -> None:
    """Let a server that a failed host was to move be started elsewhere.

    :param server: the uuid
    :raises: `nova.exception.NovaException` when the server has got busy
    """
    _forget_migrations(_own(context), server, (*NOT_BEGUN, BEGUN))


def _forget_migrations(
    own: nova_context.RequestContext, server: str, statuses: Sequence[str],
) -> None:
    """End the migrations of a server, and call the server idle.

    What the server has in Placement on its host is held by the migration, and
    is given back first; a crash in between leaves the migration to the next
    call.
    """
    instance = _instance(own, server)
    client = report.report_client_singleton()
    # The context is the context of the server's cell by now.
    for migration in objects.MigrationList.get_by_filters(own, {
            'instance_uuid': server, 'source_compute': instance.host,
            'status': list(statuses)}):
        if migration.migration_type not in MIGRATIONS:
            continue
        if client.get_allocs_for_consumer(own, migration.uuid)['allocations']:
            client.move_allocations(own, migration.uuid, server)
        migration.status = 'error'
        migration.save()
    _forget(instance)


def _forget(instance: objects.Instance) -> None:
    before, instance.task_state = instance.task_state, None
    instance.save(expected_task_state=before)


def _instance(
    context: nova_context.RequestContext, server: str,
) -> objects.Instance:
    return _api().get(context, server, expected_attrs=[
        'flavor', 'numa_topology', 'services'])
