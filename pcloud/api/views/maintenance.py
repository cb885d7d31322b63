# SPDX-License-Identifier: Apache-2.0
"""How the maintenance of a host is shown."""

from pcloud.api.schemas import shown
from pcloud.api.views import times
from pcloud.rules.moving import maintenance_windows

MEMBERS = {'from': shown.MOMENT, 'until': shown.MOMENT_OR_NULL}
REASON = {'reason': shown.TEXT}


def show(maintenance: maintenance_windows.Maintenance) -> dict:
    """Return a maintenance, with the reason."""
    return {'from': times.shown_seconds(maintenance.begin),
            'until': times.shown_seconds(maintenance.end),
            'reason': maintenance.reason}
