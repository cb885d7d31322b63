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

"""Weeks of a cloud in a minute: which hosts do servers end up on?

Servers come and go by a trace, and Nova's own weight handler chooses a host
for each server among the hosts with room, with the weighers given. There is no
service and no database; only the choice is simulated.

The replay answers two questions: are hosts with old platforms drained over
time, as servers are deleted and created again; and do servers stay away from
hosts that are rebooted soon?

Rule: reference-source-designation
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import dataclasses
import datetime
import random

from oslo_utils import timeutils

from pcloud.trace_replay import fake_cloud
from pcloud.trace_replay import trace

NOVA = ('nova.scheduler.weights.all_weighers',)
# Pcloud's weighers of attributes; a trace gives its other weighers no input.
PCLOUD = (*NOVA, *(f'pcloud.scheduler.weights.{path}' for path in (
    'platform.PlatformWeigher', 'reboot.RebootWeigher',
    'hardware_class.HardwareClassWeigher')))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a trace.

    :ivar days: for each day, ``platform -> number of servers``
    :ivar by_reboot: ``week of the host's next reboot -> number of servers`` at
        the end
    """

    days: Sequence[Mapping[str, int]]
    by_reboot: Mapping[int | None, int]

    def share(self, platform: str) -> list[float]:
        """Return the part of the servers on a platform, day by day."""
        return [day.get(platform, 0) / (sum(day.values()) or 1)
                for day in self.days]


def run(
    servers: Sequence[trace.Server], hosts: int, days: int,
    weighers: Sequence[str], chance: random.Random,
) -> Outcome:
    """Place the servers of a trace, each server on the host with most weight.

    The servers of day 0 were there before, and are spread over all hosts,
    whatever the weighers.
    """
    cloud = fake_cloud.Cloud(hosts, weighers, chance)
    seen = []
    waiting = collections.deque(servers)
    with _clock() as set_day:
        for day in range(days + 1):
            while waiting and waiting[0].start <= day:
                server = waiting.popleft()
                set_day(server.start)
                cloud.end_until(server.start)
                cloud.place(server)
            cloud.end_until(day)
            seen.append(cloud.count(fake_cloud.platform))
    return Outcome(seen, cloud.count(fake_cloud.reboot_week))


@contextlib.contextmanager
def _clock() -> Iterator:
    try:
        yield lambda day: timeutils.set_time_override(
            fake_cloud.START + datetime.timedelta(days=day))
    finally:
        timeutils.clear_time_override()
