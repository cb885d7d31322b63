# SPDX-License-Identifier: Apache-2.0

"""What Nova's own calls cost with Pcloud's filter in front of nova-api.

Databases on the MariaDB of this machine have the servers of one project, and
Nova's own calls go through two pipelines, with Pcloud's filter and without, in
turns. Nothing in the calls is Pcloud's, but every server has a recorded hint,
which the filter hides.

A second of Nova hides a millisecond of the filter. So the filter is also
measured in front of an answer that Nova has made before, where only Nova's
call of Glance is left of a launch; and what hiding costs is taken by itself.
Both are taken beside the parsing of the same body.
"""

from __future__ import annotations

from collections.abc import Iterator
import functools
import json

from pcloud.api.nova_calls import shown_hints
from pcloud.tests.benchmarks import nova_api
from pcloud.tests.benchmarks import results
from pcloud.tests.benchmarks import turns
from pcloud.tests.support import counting

FULL = {'servers': 1000, 'repeat': 15}
SMALL = {'servers': 3, 'repeat': 1}

# The most processor time with the filter, as a multiple of the time without.
CALLS = {
    nova_api.LIST: 1.05,
    '/servers': 1.05,
    '/servers/{id}': 1.1,
    '/flavors/detail': 1.1,
}
_LAUNCHED = 1.1
_UNSEEN = "users of Nova's own calls do not notice Pcloud"
# The most statements that a call sends with the filter more than without.
_MOST_STATEMENTS = 1
# The most time to hide hints, and of the whole filter with an answer that was
# made before, as a multiple of the time to parse the body.
_PARSED, _HIDDEN = 'parsing the body', 'hiding hints'
_MOST_HIDDEN, _MOST_MADE = 0.25, 0.6
_CHEAP = 'a list is not parsed where no record is in the list'
_CALLED = "Nova's own calls"


def _hiding(place: nova_api.Place, servers: int, repeat: int,
            ) -> Iterator[results.Row]:
    """Yield how long hints are hidden in a body, and the body is parsed."""
    for name, body in nova_api.bodies(place, servers).items():
        taken = turns.Turns(f'list of servers, {name}', {
            _PARSED: place.spender(lambda body=body: json.loads(body)),
            _HIDDEN: place.spender(
                lambda body=body: shown_hints.without_secrets(
                    body, lambda: False))})
        taken.take(repeat, [turns.Bound(
            _HIDDEN, _PARSED, _MOST_HIDDEN, _CHEAP)])
        yield from taken.rows('Hiding hints')


def _calls(place: nova_api.Place, repeat: int) -> Iterator[results.Row]:
    """Yield Nova's own calls."""
    works = {f'GET {path}': (functools.partial(place.get, path=path), most)
             for path, most in CALLS.items()}
    works[f'POST {nova_api.LAUNCH}'] = place.launch, _LAUNCHED
    for what, (work, most) in works.items():
        calls = {name: functools.partial(work, name)
                 for name in (nova_api.WITHOUT, nova_api.WITH)}
        without, with_ = (counting.least(call) for call in calls.values())
        yield results.Row(_CALLED, what, 'SQL without', without.sql)
        yield results.Row(
            _CALLED, what, 'more SQL with', with_.sql - without.sql,
            _MOST_STATEMENTS, why='the default Pcloud of the project is read')
        yield results.Row(
            _CALLED, what, 'more calls of Placement with',
            with_.http - without.http, 0, why=_UNSEEN)
        taken = turns.Turns(what, {
            name: place.spender(call) for name, call in calls.items()})
        taken.take(repeat, [turns.Bound(
            nova_api.WITH, nova_api.WITHOUT, most, _UNSEEN)])
        yield from taken.rows(_CALLED)


def _made(place: nova_api.Place, servers: int, repeat: int,
          ) -> Iterator[results.Row]:
    """Yield calls where Nova's place is taken by an answer made before."""
    table = 'Calls whose answer was made before'
    for name, body in nova_api.bodies(place, servers).items():
        taken = turns.Turns(f'GET {nova_api.LIST}, {name}', {
            _PARSED: place.spender(lambda body=body: json.loads(body)),
            **{each: place.spender(lambda made=made: nova_api.sent(
                made, nova_api.request(nova_api.LIST)))
               for each, made in place.make(body).items()}})
        taken.take(repeat, [turns.Bound(
            nova_api.WITH, _PARSED, _MOST_MADE, _CHEAP)])
        yield from taken.rows(table)
    taken = turns.Turns(f'POST {nova_api.LAUNCH}', {
        each: place.spender(lambda made=made: nova_api.sent(
            made, place.launching()))
        for each, made in place.make(b'{}').items()})
    taken.take(repeat)
    yield from taken.rows(table)


def measure(servers: int, repeat: int) -> Iterator[results.Row]:
    """Measure calls of a project with so many servers."""
    place = nova_api.Place(servers)
    try:
        yield from _hiding(place, servers, repeat)
        yield from _made(place, servers, repeat)
        # Last: each launch adds a server to the lists.
        yield from _calls(place, repeat)
    finally:
        place.stop()
