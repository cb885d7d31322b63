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
