# SPDX-License-Identifier: Apache-2.0

"""What calls of the API cost in a cloud with many Pclouds.

``python -m pcloud.tests.benchmarks.api`` fills databases on the MariaDB of
this machine with 2,000 Pclouds and 20,000 hosts, and makes calls of Nova's
API with Pcloud, which runs in this process. Placement runs in a separate
process.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import dataclasses
import functools
import json
import statistics
import sys
import time

# Loads the threading of Nova, so the import comes first.
from pcloud.tests import concurrency  # noqa: F401

from nova import config
from nova import context as nova_context
from nova import objects
from paste import deploy
import sqlalchemy as sa
import webob

from pcloud.audit import all_checks
from pcloud.tests.benchmarks import tables
from pcloud.tests.concurrency import cloud as concurrency_cloud
from pcloud.tests.concurrency import mariadb
from pcloud.tests.support import bulk
from pcloud.tests.support import counting
from pcloud.tests.support import tenancy

_OWNER, _TENANT, _ADMIN = 'a' * 32, 'b' * 32, 'c' * 32


@dataclasses.dataclass(frozen=True)
class Measured:
    """The cost of a call.

    :ivar seconds: seconds from call to answer, for each repetition
    """

    who: str
    name: str
    seconds: list[float]
    count: counting.Count


class Api:
    """Nova's API in this process."""

    def __init__(self) -> None:
        objects.register_all()
        self._application = deploy.loadapp(
            'config:' + config.CONF.wsgi.api_paste_config,
            name='osapi_compute')

    def call(self, call: tenancy.Call) -> None:
        """Make a call.

        :raises: `AssertionError` when the call does not succeed
        """
        roles = 'reader,member'
        if call.who is tenancy.Who.ADMIN:
            roles += ',admin'
        request = webob.Request.blank('/v2.1' + call.path, headers={
            'X-Project-Id': {tenancy.Who.OWNER: _OWNER,
                             tenancy.Who.TENANT: _TENANT,
                             tenancy.Who.ADMIN: _ADMIN}[call.who],
            'X-Roles': roles})
        request.method = call.method
        if call.body is not None:
            request.content_type = 'application/json'
            request.body = json.dumps(call.body).encode()
        response = request.get_response(self._application)
        assert 200 <= response.status_code < 300, response.text


@contextlib.contextmanager
def running(hosts: int, pclouds: int) -> Iterator[tenancy.Tenancy]:
    """Run Placement over filled databases on MariaDB."""
    made = concurrency_cloud.Cloud(processes=0)
    try:
        made.start()
        like, = made.seed('template', 1)
        yield tenancy.fill(
            bulk.Rows(sa.create_engine(mariadb.url('placement'))), like,
            'bulk', hosts, pclouds, _OWNER, _TENANT)
    finally:
        made.stop()


def measure(api: Api, call: tenancy.Call, repeat: int) -> Measured:
    """Repeat a call that changes nothing."""
    api.call(call)  # What is read once and cached is not the call's.
    return Measured(call.who.value, f'{call.method} {call.name}',
                    [_time(lambda: api.call(call)) for _ in range(repeat)],
                    counting.count(lambda: api.call(call)))


def measure_together(
    api: Api, calls: list[tenancy.Call], repeat: int,
) -> list[Measured]:
    """Repeat a sequence of calls that undo each other."""
    for call in calls:
        api.call(call)
    times = [[_time(functools.partial(api.call, call)) for call in calls]
             for _ in range(repeat)]
    counts = [counting.count(functools.partial(api.call, call))
              for call in calls]
    return [
        Measured(call.who.value, f'{call.method} {call.name}', list(seconds),
                 count)
        for call, seconds, count in zip(
            calls, zip(*times, strict=True), counts, strict=True)]


def measure_audit() -> Measured:
    """Run all checks of the audit once."""
    def find() -> None:
        found = all_checks.find(nova_context.get_admin_context(), settle=0)
        assert not found, found[:5]

    with counting.counted() as count:
        seconds = _time(find)
    return Measured('operator', 'pcloud-manage audit', [seconds], count)


def _time(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def table(measured: list[Measured]) -> str:
    """Return the measurements in milliseconds, as reStructuredText."""
    rows = [['Call', 'by', 'median', 'worst', 'SQL', 'Placement']]
    rows += [
        [f'``{each.name}``', each.who,
         f'{1000 * statistics.median(each.seconds):,.0f}',
         f'{1000 * max(each.seconds):,.0f}', f'{each.count.sql:,}',
         f'{each.count.http:,}'] for each in measured]
    return tables.listed(rows)


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--hosts', type=int, default=20000)
    parser.add_argument('--pclouds', type=int, default=2000)
    parser.add_argument('--repeat', type=int, default=10,
                        help='how often each call is made')
    parser.add_argument('--audit', action='store_true',
                        help='look for what is wrong too; takes minutes')
    args = parser.parse_args()
    with running(args.hosts, args.pclouds) as there:
        api = Api()
        measured = [measure(api, call, args.repeat)
                    for call in tenancy.reads(there)]
        measured += measure_together(
            api, tenancy.writes(there), args.repeat)
        if args.audit:
            measured.append(measure_audit())
    print(table(measured))
    return 0


if __name__ == '__main__':
    sys.exit(main())
