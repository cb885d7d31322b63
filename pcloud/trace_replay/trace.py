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

"""Traces: servers that come and go."""

import dataclasses
import random

# The sizes of servers.
SERVER_MB = (4096, 8192, 16384, 32768)


@dataclasses.dataclass(frozen=True)
class Server:
    """A server of a trace.

    :ivar start: days since the trace began; 0 for a server which is older
    :ivar end: days since the trace began
    """

    start: float
    end: float
    memory_mb: int


def make(
    chance: random.Random, days: int, servers: int, lifetime: float,
) -> list[Server]:
    """Return servers with start and end, ordered by start.

    :param servers: about how many servers there are at any moment
    :param lifetime: the days that a server lives on average, exponentially
    """
    def server(start: float) -> Server:
        return Server(start, start + chance.expovariate(1 / lifetime),
                      chance.choice(SERVER_MB))

    requests = [server(0) for _ in range(servers)]
    moment = 0.0
    while (moment := moment + chance.expovariate(servers / lifetime)) < days:
        requests.append(server(moment))
    return requests
