# SPDX-License-Identifier: Apache-2.0

"""Wait until Nova's processes have reported, and map Nova's hosts.

Run as a program: ``python -m pcloud_sandbox.services.nova_hosts DIR``. The
mapping is the work of ``nova-manage cell_v2 discover_hosts``.
"""

from nova import monkey_patch; monkey_patch.patch(backend='threading')  # noqa

import sys
import time

from nova import config
from nova import context
from nova import objects
from nova.objects import cell_mapping
from nova.objects import host_mapping
from nova.objects import service

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings

# Seconds between looks. The supervisor ends a program without progress.
LOOK = 0.5


def expected(chosen: settings.Settings) -> set[tuple[str, str]]:
    """Return the services that have to report: (binary, host)."""
    first, second = settings.CONTROLLERS
    return {('nova-scheduler', first), ('nova-scheduler', second),
            *(('nova-conductor', settings.cell_controller(cell))
              for cell in chosen.cell_numbers()),
            *(('nova-compute', host) for host in chosen.host_names())}


def reported(admin: context.RequestContext) -> set[tuple[str, str]]:
    """Return the services that have reported: (binary, host).

    A service reports after the service has begun to listen to the broker.
    """
    return {(record.binary, record.host)
            for cell in cell_mapping.CellMappingList.get_all(admin)
            for record in _services(admin, cell)
            if record.report_count}


def _services(admin: context.RequestContext,
              cell: cell_mapping.CellMapping) -> service.ServiceList:
    with context.target_cell(admin, cell) as in_cell:
        return service.ServiceList.get_all(in_cell)


def main() -> None:
    """Map the hosts of the sandbox in the folder sys.argv[1]."""
    where = layout.Layout(sys.argv[1])
    wanted = expected(settings.read(where).settings)
    config.parse_args(
        ['nova-manage', '--config-file', str(where.etc / 'nova.conf')])
    objects.register_all()
    admin = context.get_admin_context()
    before = None
    while missing := wanted - reported(admin):
        if missing != before:
            print('waiting for', ', '.join(
                f'{binary} on {host}' for binary, host in sorted(missing)),
                flush=True)
        before = missing
        time.sleep(LOOK)
    host_mapping.discover_hosts(admin)


if __name__ == '__main__':
    main()
