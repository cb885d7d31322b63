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
for each among those with room, with the weighers that are configured. There
is no service and no database; what is simulated is the choice.

The question is that of RFD 24, "Desired State": are hosts with old platforms
drained "over time", when servers are "destroyed and re-created elsewhere",
and do servers stay away from hosts that are rebooted soon?
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
# Those by attributes; the others have nothing to say here.
PCLOUD = (*NOVA, *(f'pcloud.scheduler.weights.{each}' for each in (
    'platform.PlatformWeigher', 'reboot.RebootWeigher',
    'hardware_class.HardwareClassWeigher')))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a trace.

    :ivar days: for each day, how many servers were on each platform
    :ivar by_reboot: how many servers there were at the end, by the week of
        their host's next reboot
    """

    days: Sequence[Mapping[str, int]]
    by_reboot: Mapping[int | None, int]

    def share(self, platform: str) -> list[float]:
        """Return which part of the servers was on a platform, day by day."""
        return [day.get(platform, 0) / (sum(day.values()) or 1)
                for day in self.days]


def run(
    servers: Sequence[trace.Server], hosts: int, days: int,
    weighers: Sequence[str], chance: random.Random,
) -> Outcome:
    """Place the servers of a trace, each on the host that weighs most.

    Those of day 0 are spread over all hosts, whatever the weighers: they
    were there before.
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
