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

"""Units of services that are taken away, with what is co-located with them."""

from collections.abc import Iterable
from collections.abc import Sequence

from pcloud.client.deploy import server_runs
from pcloud.client.deploy import services
from pcloud.client import servers
from pcloud.rules import hints


def remove(nova: servers.Servers, found: services.Services,
           units: Iterable[servers.Server],
           pace: server_runs.Pace) -> list[servers.Server]:
    """Stop units, then what is co-located with them; delete them all.

    :returns: what was deleted
    :raises server_runs.NotStopped: when one could not be stopped, and then
        nothing is deleted, or not be deleted
    """
    levels = found.levels(units)
    for level in levels:
        server_runs.stop_all(nova, level, pace)
    gone = [each for level in levels for each in level]
    server_runs.delete_all(nova, gone, pace)
    return gone


def withdraw_doubles(nova: servers.Servers,
                     created: Sequence[servers.Server],
                     pace: server_runs.Pace) -> list[servers.Server]:
    """Take back new units where another run was quicker.

    Runs do not know of each other while they look for hosts without a unit.
    Each looks again when its units are there, and takes back its own which
    are not the first on their hosts. What is being built is waited for, as
    only afterwards it is certain which was first. A run that fails takes all
    of its own back, even one for which another run has given way; the next
    one starts it again.

    :param created: units that this run started for scaling
    :returns: those that stay
    :raises server_runs.NotStopped: when one could not be taken back
    """
    if not created:
        return []
    found = services.Services(_settled(nova, created, pace))
    own = {each.id for each in created}
    doubles = [each for name in found.names()
               for each in found.doubles(name) if each.id in own]
    for each in doubles:
        pace.report(f'{each.name}: not needed, as another run has started '
                    f'one on its host')
    gone = {each.id for each in remove(nova, found, doubles, pace)}
    return [each for each in created if each.id not in gone]


def _settled(nova: servers.Servers, created: Iterable[servers.Server],
             pace: server_runs.Pace) -> list[servers.Server]:
    """List servers when nothing is built that may be beside a new one."""
    told: set[str] = set()

    def is_settled(listed: list[servers.Server]) -> bool:
        rivals = _rivals(created, listed)
        for each in rivals:
            if each.id not in told:
                pace.report(f'{each.name}: waiting, as another run builds it')
                told.add(each.id)
        return not rivals

    return server_runs.list_when(nova, is_settled, pace)


def _rivals(created: Iterable[servers.Server],
            listed: Iterable[servers.Server]) -> list[servers.Server]:
    """Return what is built that may come to the host of a new unit."""
    return [each for each in listed if each.status == servers.BUILD
            and services.is_scaled(each) and any(
                new.hint(hints.SERVICE) == each.hint(hints.SERVICE) and
                (new.host_id == each.host_id or
                 new.hint(hints.IN) == each.hint(hints.IN))
                for new in created)]
