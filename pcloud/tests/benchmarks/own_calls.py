# SPDX-License-Identifier: Apache-2.0

"""What Nova's own calls cost with Pcloud's filter in front of nova-api.

``python -m pcloud.tests.benchmarks.own_calls`` fills databases on the MariaDB
of this machine with the servers of one project, and makes Nova's own calls
through two pipelines, with Pcloud's filter and without, in turns. Nothing in
the calls is Pcloud's, but every server has a recorded hint, which the filter
hides. What hiding costs is too little to be seen in a call of seconds, and is
taken by itself, beside the parsing of the same body.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys

from pcloud.api.nova_calls import shown_hints
from pcloud.tests.benchmarks import nova_api
from pcloud.tests.benchmarks import turns
from pcloud.tests.support import counting

# The most processor time with the filter, as a multiple of the time without.
CALLS = {
    nova_api.LIST: 1.05,
    '/servers': 1.05,
    '/servers/{id}': 1.1,
    '/flavors/detail': 1.1,
}
_LAUNCHED = 1.1
# The most statements that a call sends with the filter more than without.
_MOST_STATEMENTS = 1
# The most time to hide hints, as a multiple of the time to parse the body.
_HIDDEN, _PARSED, _MOST_HIDDEN = 'hidden', 'parsed', 0.25


def measure_hiding(
    place: nova_api.Place, servers: int, repeat: int,
) -> list[turns.Turns]:
    """Measure how long hints are hidden in a body, and the body is parsed."""
    taken = []
    for name, body in nova_api.bodies(place, servers).items():
        taken.append(turns.Turns(name, {
            _PARSED: place.spender(lambda body=body: json.loads(body)),
            _HIDDEN: place.spender(
                lambda body=body: shown_hints.without_secrets(
                    body, lambda: False))}))
        taken[-1].take(repeat, [turns.Bound(_HIDDEN, _PARSED, _MOST_HIDDEN)]
                       if servers >= nova_api.SERVERS else [])
    return taken


def measure_calls(
    place: nova_api.Place, servers: int, repeat: int,
) -> list[turns.Turns]:
    """Measure Nova's own calls."""
    works = {f'GET {path}': (functools.partial(place.get, path=path), most)
             for path, most in CALLS.items()}
    works[f'POST {nova_api.LAUNCH}'] = place.launch, _LAUNCHED
    taken = []
    for what, (work, most) in works.items():
        calls = {name: functools.partial(work, name)
                 for name in (nova_api.WITHOUT, nova_api.WITH)}
        without, with_ = (counting.least(call) for call in calls.values())
        print(f'{what}: without: {without} with: {with_}')
        assert with_.sql <= without.sql + _MOST_STATEMENTS
        taken.append(turns.Turns(what, {
            name: place.spender(call) for name, call in calls.items()}))
        taken[-1].take(repeat, [
            turns.Bound(nova_api.WITH, nova_api.WITHOUT, most)]
            if servers >= nova_api.SERVERS else [])
    return taken


def main() -> int:
    """Measure, print tables, and fail when a call costs too much."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--servers', type=int, default=nova_api.SERVERS)
    parser.add_argument('--repeat', type=int, default=15)
    options = parser.parse_args()
    place = nova_api.Place(options.servers)
    try:
        hidden = measure_hiding(place, options.servers, options.repeat)
        calls = measure_calls(place, options.servers, options.repeat)
    finally:
        place.stop()
    print(turns.table(calls), turns.table(hidden), sep='\n\n')
    return turns.report_missed(calls + hidden)


if __name__ == '__main__':
    sys.exit(main())
