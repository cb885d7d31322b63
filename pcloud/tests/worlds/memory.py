# SPDX-License-Identifier: Apache-2.0

"""What an actor of a small world remembers of the actor's readings.

The further steps of an actor depend on the place where the actor stands and on
what the actor has read. Of what a function has read, the function's return
value is all that is left when the function has returned, if the function has
changed nothing but the databases. So the readings of such a function are
replaced by the return value, and states that differ only in readings that are
forgotten are a single state. An error that a function raises is treated like a
return value.

**Why no state is lost.** A place is reached by a stack of function calls, and
the code is deterministic: a call's local variables are determined by the
call's arguments, and by the readings and the return values since the call
began. The arguments are determined in the same way one call further out. So
actors with equal memories, which are these readings and return values for
each call of the stack, continue in the same way in equal databases. This holds
for every turn after that, so that two states with equal memories have equal
ends, equal violations and equal numbers of interleavings.

**Why the exploration ends.** Each turn adds to the memory of the innermost
call, or ends calls and adds to the memory of an outer call. So but for
attempts no actor ever comes back to a memory, and the graph of the states has
no cycle.

**Attempts.** Of a function that is tried until the function succeeds, earlier
attempts are forgotten when a further attempt begins, and so is the number of
attempts. The number decides only when the actor gives up; that no actor gives
up, and that attempts make no cycle, is shown by the graph of the states, see
`graph.Graph.repetitions`.

**Launches.** What Nova's functions keep is not known, so a launch remembers
all readings, see `Everything`, until hosts are selected. The conductor gets
nothing of the selection but a list of hosts for each server, so the readings
are replaced by these lists. Then each server is built by a strand, which has
the server's list alone, see `Launch`.

A function with an argument or a return value that is not a plain value
(numbers, texts, collections of plain values, frozen data classes) forgets
nothing: such an object may be changed by the function, and the readings stay
in the memory of the caller. Request contexts and conditions of SQL are the
exceptions among arguments, which functions of Pcloud only pass on. A source
of randomness is an exception too: the state of the source after the call is
remembered. What a
function keeps in a module or on a class would be lost; Pcloud keeps there what
does not depend on the databases, such as parsed values.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import dataclasses
import datetime
import functools
import hashlib
import inspect
import json
import random
import types
import typing

from nova import context as nova_context
import sqlalchemy as sa

from pcloud.tests.worlds import ranks

# Arguments that functions of Pcloud pass on as the functions got them.
_PASSED_ON = (
    nova_context.RequestContext, sa.ColumnElement, random.Random)


class NotPlain(Exception):
    """A value that may be changed, or has no canonical text."""


class Changed(Exception):
    """A function has changed an argument, and so keeps more than it says."""


class Memory:
    """The readings that an actor remembers: a list for each call."""

    def __init__(self) -> None:
        self._calls: list[list[str]] = [[]]

    def note(self, value: object) -> None:
        """Remember a reading, for the innermost call."""
        self._calls[-1].append(json.dumps(value, default=str))

    def begin(self) -> None:
        """Remember that a call has begun."""
        self._calls.append([])

    def keep(self) -> None:
        """Remember all readings of a call that has ended."""
        readings = self._calls.pop()
        self._calls[-1] += readings

    def forget(self, left: Callable[[], object]) -> None:
        """Remember what a call that has ended leaves, instead of readings.

        :param left: returns the return value or the error, as plain values
        """
        if self._calls[-1]:
            try:
                value = left()
            except NotPlain:
                return self.keep()
            self._calls[-1] = [json.dumps(value)]
        self.keep()

    def length(self) -> int:
        """Return the number of readings of the innermost call."""
        return len(self._calls[-1])

    def go_back(self, length: int) -> None:
        """Remember no more than the first readings of the innermost call.

        :param length: an earlier return value of `length`
        """
        del self._calls[-1][length:]

    def text(self) -> list[list[str]]:
        """Return the readings of each call, the outermost first."""
        return self._calls

    def select(self, selections: Mapping[str, object]) -> None:
        """Remember the hosts that were selected for servers.

        :param selections: server -> what was selected for the server
        """
        self.note(selections)

    def of_strand(self, strand: str) -> Memory:
        """Return the memory of a strand of the actor."""
        return self

    @property
    def has_selected(self) -> bool:
        """Whether all that was read for a selection is forgotten."""
        return False


class Everything(Memory):
    """A memory that forgets nothing: for actors that run code of Nova."""

    def __init__(self) -> None:
        super().__init__()
        self._readings = hashlib.sha256()

    def note(self, value: object) -> None:
        """Remember a reading."""
        self._readings.update(ranks.plain(value).encode())

    def begin(self) -> None:
        """Remember readings of calls and callers as one list."""

    def keep(self) -> None:
        """Remember all readings."""

    def forget(self, left: Callable[[], object]) -> None:
        """Remember all readings all the same."""

    def go_back(self, length: int) -> None:
        """Remember all readings all the same."""

    def text(self) -> list[list[str]]:
        """Return a digest of all readings."""
        return [[self._readings.hexdigest()]]


class Launch(Everything):
    """A memory that forgets nothing but what was read for a selection.

    For actors that have servers built. From the selection on the build of
    each server is a strand with a memory of its own.
    """

    def __init__(self) -> None:
        super().__init__()
        self._servers: dict[str, Everything] = {}

    def select(self, selections: Mapping[str, object]) -> None:
        """Forget the readings, and remember what was selected.

        The strand of a server remembers what was selected for the server.

        :param selections: server -> what was selected for the server
        """
        self._readings = hashlib.sha256()
        self.note(selections)
        for server, selection in selections.items():
            self._servers[server] = Everything()
            self._servers[server].note(selection)

    def of_strand(self, strand: str) -> Memory:
        """Return the memory of the build of a server.

        Before the selection, and for any other strand, the memory is the
        memory of the launch.
        """
        return self._servers.get(strand, self)

    @property
    def has_selected(self) -> bool:
        """Whether all that was read for a selection is forgotten."""
        return bool(self._servers)


class Reader(Launch):
    """A launch that remembers what statements and Placement have answered.

    For worlds with several launches, and launches of which the code of Pcloud
    reads more than Nova's.
    """


def forgetting(
    function: Callable, memory: Callable[[], Memory | None],
) -> Callable:
    """Return a function whose readings are forgotten when it has returned.

    :param memory: returns the memory of the present actor
    :raises Changed: when the function changes an argument
    """
    @functools.wraps(function)
    def remembered(*args, **kwargs):
        its = memory()
        if its is None:
            return function(*args, **kwargs)
        given = _given(args, kwargs)
        chances = [each for each in (*args, *kwargs.values())
                   if isinstance(each, random.Random)]
        try:
            before = plain(given)
        except NotPlain:
            return function(*args, **kwargs)
        its.begin()
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            its.forget(functools.partial(_of_error, error))
            raise
        else:
            its.forget(functools.partial(plain, result))
        finally:
            for each in chances:
                its.note(each.getstate())
        if plain(given) != before:
            raise Changed(f'{function.__module__}.{function.__name__}')
        return result
    return remembered


def attempt(
    function: Callable, memory: Callable[[], Memory | None],
    again: Callable[[], None],
) -> Callable:
    """Return a function of which the latest call is remembered alone.

    :param memory: returns the memory of the present actor
    :param again: called before the second call, and before each later call
    """
    forgetful = forgetting(function, memory)
    before: list[int] = []

    @functools.wraps(function)
    def tried(*args, **kwargs):
        its = memory()
        try:
            plain(_given(args, kwargs))
        except NotPlain:
            return function(*args, **kwargs)
        if its is not None and before:
            its.go_back(*before)
            again()
        elif its is not None:
            before.append(its.length())
        return forgetful(*args, **kwargs)
    return tried


def _given(args, kwargs):
    return [each for each in (*args, *kwargs.values())
            if not isinstance(each, _PASSED_ON)]


def _of_error(error):
    return [type(error).__name__, str(error), plain(vars(error))]


def functions(module: types.ModuleType) -> list[str]:
    """Return the names of a module's own functions."""
    return [name for name, each in vars(module).items()
            if inspect.isfunction(each) and
            each.__module__ == module.__name__ and
            not inspect.isgeneratorfunction(each)]


def is_free(function: Callable) -> bool:
    """Return whether a function has nothing but its arguments."""
    return inspect.isfunction(function) and function.__closure__ is None


def plain(value: object) -> typing.Any:
    """Return a plain value in a canonical form for JSON.

    :raises NotPlain: for any other value
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (datetime.datetime, bytes)):
        return str(value)
    if isinstance(value, Mapping):
        return ['mapping', sorted(
            ([plain(key), plain(each)] for key, each in value.items()),
            key=repr)]
    if isinstance(value, (set, frozenset)):
        return ['set', sorted(map(plain, value), key=repr)]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if dataclasses.is_dataclass(value) and (
            value.__dataclass_params__.frozen):
        return [type(value).__name__, *(
            plain(getattr(value, field.name))
            for field in dataclasses.fields(value))]
    raise NotPlain(type(value).__name__)
