# SPDX-License-Identifier: Apache-2.0

"""How the API shows the explanation of a Pcloud's room."""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterable
import dataclasses

from nova import objects

from pcloud.explain import changes
from pcloud.explain import obstacles


def show(
    flavor: objects.Flavor, explanation: obstacles.Explanation,
    helping: Iterable[changes.Change],
) -> dict:
    """Return an explanation for the owner, with the owner's names of hosts."""
    return {'flavor': flavor.flavorid,
            'fits': explanation.fits,
            'refused': explanation.refused,
            'hosts': [_host(host) for host in explanation.hosts],
            'changes': [dataclasses.asdict(change) for change in helping],
            'not_explained': list(explanation.not_explained)}


def _host(host: obstacles.HostRoom) -> dict:
    return {'name': host.host.name, 'fits': host.fits,
            'in_the_way': [dataclasses.asdict(obstacle)
                           for obstacle in host.in_the_way]}
