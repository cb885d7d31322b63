# SPDX-License-Identifier: Apache-2.0

"""What guests tell on their consoles: whether they went on, or began anew."""

from collections.abc import Callable
import dataclasses
import re
import typing

from openstack import exceptions as sdk_exceptions

from pcloud.tests.cloud import users
from pcloud.tests.cloud import waiting

_TICK = re.compile(
    r'^TICK (\d+) up=\S+ boot=([0-9a-f]{12}) disk=(\w+) boots=(\d+)\s*$',
    re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Tick:
    """A line of a guest's console.

    :ivar count: the seconds that the guest has counted since the boot
    :ivar boot: what the kernel drew at the boot
    :ivar disk: the boot that wrote the disk first
    :ivar boots: how often a guest was started with this disk
    """

    count: int
    boot: str
    disk: str
    boots: int


def ticks(text: str) -> list[Tick]:
    """Return all whole ticks of a console, in order."""
    return [Tick(int(count), boot, disk, int(boots))
            for count, boot, disk, boots in _TICK.findall(text)]


def console(user: users.User, server: typing.Any) -> str:
    """Return the console of a server, '' while there is none."""
    try:
        return user.cloud.compute.get_server_console_output(
            server)['output'] or ''
    except (sdk_exceptions.ConflictException,
            sdk_exceptions.NotFoundException):
        return ''


def tick(
    user: users.User, server: typing.Any,
    wanted: Callable[[Tick], bool] = lambda _: True,
) -> Tick:
    """Wait for a tick of a server, and return the tick.

    :param wanted: whether a tick is the one to wait for
    :raises: `AssertionError` when no such tick comes
    """
    def look() -> Tick | None:
        there = ticks(console(user, server))
        return there[-1] if there and wanted(there[-1]) else None

    return waiting.until(
        look, lambda: f'the console of {server.id}: '
                      f'{console(user, server)[-500:]}')


def next_tick(user: users.User, server: typing.Any, before: Tick) -> Tick:
    """Wait until a guest has counted on, or was started anew."""
    return tick(user, server, lambda now: (
        now.boot != before.boot or now.count > before.count))


def other_boot(user: users.User, server: typing.Any, before: Tick) -> Tick:
    """Wait until a guest has been started anew."""
    return tick(user, server, lambda now: now.boot != before.boot)
