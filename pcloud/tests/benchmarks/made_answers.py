# SPDX-License-Identifier: Apache-2.0

"""What Pcloud's filter in front of nova-api costs by itself.

``python -m pcloud.tests.benchmarks.made_answers`` makes calls through the
pipelines of `nova_api`, where Nova's place is taken by an answer that Nova has
made before: a second of Nova hides a millisecond of the filter. Of a launch,
only Nova's call of Glance is left. The list of servers is taken beside the
parsing of the same body.
"""

from __future__ import annotations

import argparse
import json
import sys

from pcloud.tests.benchmarks import nova_api
from pcloud.tests.benchmarks import suites
from pcloud.tests.benchmarks import turns

# The most time with the filter, as a multiple of the time to parse the body.
_PARSED, _MOST = 'parsed', 0.6


def measure(
    place: nova_api.Place, servers: int, repeat: int,
) -> list[turns.Turns]:
    """Measure lists with and without recorded hints, and a launch."""
    taken = []
    for name, body in nova_api.bodies(place, servers).items():
        taken.append(turns.Turns(f'made: GET {nova_api.LIST}, {name}', {
            _PARSED: place.spender(lambda body=body: json.loads(body)),
            **{each: place.spender(lambda made=made: nova_api.sent(
                made, nova_api.request(nova_api.LIST)))
               for each, made in place.make(body).items()}}))
        taken[-1].take(repeat, [turns.Bound(nova_api.WITH, _PARSED, _MOST)]
                       if servers >= nova_api.SERVERS else [])
    taken.append(turns.Turns(f'made: POST {nova_api.LAUNCH}', {
        each: place.spender(lambda made=made: nova_api.sent(
            made, place.launching()))
        for each, made in place.make(b'{}').items()}))
    taken[-1].take(repeat)
    return taken


def main() -> int:
    """Measure, print a table, and fail when the filter costs too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--servers', type=int, default=nova_api.SERVERS)
    parser.add_argument('--repeat', type=int, default=15)
    suites.add_option(parser)
    options = parser.parse_args()
    place = nova_api.Place(options.servers)
    try:
        taken = measure(place, options.servers, options.repeat)
    finally:
        place.stop()
    print(turns.table(taken))
    if options.json:
        suites.write(options.json, turns.seconds(taken))
    return turns.report_missed(taken)


if __name__ == '__main__':
    sys.exit(main())
