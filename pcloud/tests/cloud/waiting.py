# SPDX-License-Identifier: Apache-2.0

"""Wait for what a cloud does, however slow the cloud is."""

from collections.abc import Callable
import time
import typing

from pcloud.client import exceptions

# Seconds after which a wait is taken for endless, far above what any cloud
# needs, and seconds between two looks.
ENDLESS = 1800
LOOK = 0.5

_Found = typing.TypeVar('_Found')


def until(look: Callable[[], _Found], what: str | Callable[[], str]) -> _Found:
    """Look until something true is found, and return what was found.

    :param what: what is waited for, or a function that describes the state
    :raises: `AssertionError` when nothing is found in the end
    """
    deadline = time.monotonic() + ENDLESS
    while not (found := look()):
        if time.monotonic() > deadline:
            text = what if isinstance(what, str) else what()
            raise AssertionError(f'Waited {ENDLESS} s in vain: {text}')
        time.sleep(LOOK)
    return found


def until_accepted(
    act: Callable[[], object], what: str,
    between: Callable[[], object] = lambda: None,
) -> None:
    """Do what a cloud refuses with a conflict, until the cloud accepts.

    :param what: what is done
    :param between: what is done after each refusal
    :raises: `AssertionError`, with the last refusal
    """
    refusals: list[exceptions.Conflict] = []

    def is_accepted() -> bool:
        try:
            act()
            return True
        except exceptions.Conflict as refusal:
            refusals[:] = [refusal]
            between()
            return False

    until(is_accepted, lambda: f'{what}: {refusals}')
