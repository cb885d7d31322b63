# SPDX-License-Identifier: Apache-2.0
"""Runs: the same call for each of several resources.

A run goes on when a call for one resource fails. What the run raises at the
end names what was done and what was not.
"""

from collections.abc import Callable
from collections.abc import Iterable

from keystoneauth1 import exceptions as ksa_exceptions

from pcloud.client import exceptions


class PartlyDone(exceptions.ClientError):
    """Some calls of a run failed; the message names what was done."""


class Run:
    """What has become of the resources of a run.

    :ivar names: the resources, each once
    :ivar done: the participle of the verb in messages, such as "deleted"
    :ivar finished: the names of resources whose calls succeeded
    :ivar failed: name -> error of the call for the resource
    """

    def __init__(self, names: Iterable[str], done: str) -> None:
        self.names = list(dict.fromkeys(names))
        self.done = done
        self.finished: list[str] = []
        self.failed: dict[str, Exception] = {}

    @property
    def left(self) -> list[str]:
        """The names of the resources that are neither finished nor failed."""
        return [name for name in self.names
                if name not in self.finished and name not in self.failed]

    def check(self) -> None:
        """Raise what has failed; a run of a single call raises its error.

        :raises PartlyDone: when a call of several has failed
        """
        if not self.failed:
            return
        if len(self.names) == 1:
            raise self.failed[self.names[0]]
        missing = len(self.names) - len(self.finished)
        raise PartlyDone(
            f'{missing} of {len(self.names)} not {self.done}. '
            f'{self._told("Not tried", self.left)}')

    def interrupted(self, last: str | None = None) -> exceptions.Interrupted:
        """Return the interruption that names what is left.

        :param last: the resource whose call was under way, if any
        """
        unknown = '' if last is None else (
            f'It is not known whether {last} was {self.done}. ')
        left = [name for name in self.left if name != last]
        return exceptions.Interrupted(
            'Interrupted. ' + unknown +
            self._told(f'Not {self.done} yet', left))

    def _told(self, left_head: str, left: list[str]) -> str:
        """Return a sentence for each kind of outcome that occurred."""
        heads = [
            ('', [f'{name}: {error}' for name, error in self.failed.items()],
             '; '),
            (f'{left_head}: ', left, ', '),
            (f'{self.done.capitalize()}: ', self.finished, ', ')]
        return ' '.join(
            (head + between.join(items)).rstrip('.') + '.'
            for head, items, between in heads if items)


def run_each(names: Iterable[str], act: Callable[[str], object],
             done: str) -> None:
    """Call a function for each of several resources.

    A refused call does not end the run; a cloud that does not answer does.

    :param act: called with each name
    :param done: as for :class:`Run`
    :raises PartlyDone: when a call of several has failed; the error of the
        call itself when there is one call
    :raises exceptions.Interrupted: on Ctrl-C
    """
    run = Run(names, done)
    for name in run.names:
        try:
            act(name)
        except exceptions.ClientError as error:
            run.failed[name] = error
        except ksa_exceptions.ClientException as error:
            run.failed[name] = error
            break
        except KeyboardInterrupt:
            raise run.interrupted(name) from None
        else:
            run.finished.append(name)
    run.check()


def forecast(names: Iterable[str], obstacle: Callable[[str], str | None],
             done: str, report: Callable[[str], object]) -> None:
    """Report what would become of each of several resources.

    :param obstacle: returns, for a name, the known obstacle to the call for
        the resource, None without a known obstacle
    :param done: as for :class:`Run`
    :param report: called with a line for each resource
    :raises PartlyDone: when there are obstacles
    """
    run = Run(names, done)
    obstacles = {name: obstacle(name) for name in run.names}
    for name, reason in obstacles.items():
        report(f'{name}: would be {done}' if reason is None else
               f'{name}: would not be {done}: {reason}')
    missing = sum(reason is not None for reason in obstacles.values())
    if missing:
        raise PartlyDone(
            f'{missing} of {len(run.names)} would not be {done}')
