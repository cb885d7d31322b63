# SPDX-License-Identifier: Apache-2.0

"""Read what decides whether servers can be started on another host.

Rule: reference-recovery-servers
"""

from collections.abc import Collection

from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
from oslo_utils import strutils
import sqlalchemy as sa

from pcloud.backend.cells import asking
from pcloud.rules.moving import recovery

# The property by which owners tell other software, too, which servers to
# recover first.
_FIRST = 'HA_Enabled'
# Where Nova keeps of the image of a server that the server has a TPM.
_TPM = ('image_hw_tpm_version', 'image_hw_tpm_model')
_LOCAL, _VOLUME = 'local', 'volume'


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, recovery.Guest]:
    """Return what decides about the servers on hosts.

    One query, and four queries a cell; none for no hosts. Servers in silent
    cells are left out.

    :returns: ``server uuid -> guest``
    """
    if not hosts:
        return {}
    answers = asking.ask_hosts(context, hosts, _read)
    return {server: guest for there in answers.known.values()
            for server, guest in there.items()}


@main_db.pick_context_manager_reader
def _read(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, recovery.Guest]:
    server, disk = models.Instance, models.BlockDeviceMapping
    there = sa.select(server.uuid).where(
        server.deleted == 0, server.host.in_(hosts))
    first = _with(context, models.InstanceMetadata, there, (_FIRST,))
    tpm = _with(context, models.InstanceSystemMetadata, there, _TPM)
    shared = frozenset(context.session.scalars(sa.select(
        models.ShareMapping.instance_uuid).where(
            models.ShareMapping.instance_uuid.in_(there))))
    kinds: dict[str, set[str]] = {}
    for uuid, kind in context.session.execute(sa.select(
        server.uuid, disk.destination_type,
    ).select_from(server).outerjoin(disk, sa.and_(
            disk.instance_uuid == server.uuid, disk.deleted == 0,
    )).where(server.deleted == 0, server.host.in_(hosts))):
        kinds.setdefault(uuid, set()).add(kind or '')
    return {uuid: recovery.Guest(
        strutils.bool_from_string(first.get(uuid, '')),
        _VOLUME not in its or _LOCAL in its,
        'a vTPM' if uuid in tpm else
        'shares of files' if uuid in shared else None)
        for uuid, its in kinds.items()}


def _with(
    context: nova_context.RequestContext,
    row: type[models.InstanceMetadata] | type[models.InstanceSystemMetadata],
    there: sa.Select, keys: Collection[str],
) -> dict[str, str]:
    """Return ``server uuid -> value`` of servers with any of some keys.

    :param row: the table of the keys
    :param there: selects the uuids of the servers
    """
    return dict(context.session.execute(sa.select(
        row.instance_uuid, row.value).where(
            row.deleted == 0, row.key.in_(keys),
            row.instance_uuid.in_(there))).all())
