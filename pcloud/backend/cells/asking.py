# SPDX-License-Identifier: Apache-2.0


"""Ask the cells of given hosts or servers, and no other cells.

Nova's API database maps each host and each server to a cell. Rows with the
same name in other cells are leftovers, and an outage of other cells does not
matter. A cell that does not answer is silent.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
from typing import Generic
from typing import TypeVar

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from nova.db.main import api as main_db
from nova import exception as nova_exception
from nova import objects
from oslo_db import exception as db_exc
from oslo_log import log as logging
import sqlalchemy as sa

from pcloud.backend.aggregates import rows
from pcloud import exception

LOG = logging.getLogger(__name__)

_Question = TypeVar('_Question')
_Answer = TypeVar('_Answer')
_Row = TypeVar('_Row')

# What a cell's database raises when the database is away. Everything else is
# an error of the caller.
_SILENCE = (db_exc.DBError, sa.exc.SQLAlchemyError,
            nova_exception.CellTimeout)


@dataclasses.dataclass(frozen=True)
class Answers(Generic[_Question, _Answer]):
    """The answers of cells.

    :ivar known: ``cell uuid -> answer`` of the cells that answer
    :ivar silent: ``cell uuid -> question`` of the silent cells
    """

    known: Mapping[str, _Answer]
    silent: Mapping[str, _Question]

    def all(self) -> Iterable[_Answer]:
        """Return the answers of all cells.

        :raises: `exception.Unavailable` when a cell is silent: what is unknown
            must not count as empty or free
        """
        if self.silent:
            raise exception.Unavailable()
        return self.known.values()


def of_hosts(
    context: nova_context.RequestContext,
    hosts: Collection[str] | None = None,
) -> dict[int | None, frozenset[str]]:
    """Return the cells of hosts (one query).

    A host in no cell is left out.

    :param hosts: service hosts; None for all hosts
    :returns: ``cell id -> service hosts``
    """
    row = models.HostMapping
    wanted = None if hosts is None else frozenset(hosts)
    # MariaDB would go through the rows in the order of an index of cells.
    statement = sa.select((row.cell_id + 0).label('cell'), row.host)
    if wanted is not None:
        statement = statement.where(row.host.in_(wanted))
    with api_db.context_manager.reader.using(context) as session:
        # Databases that compare without case find other hosts too.
        return rows.by_key(
            (cell, host) for cell, host in session.execute(statement)
            if wanted is None or host in wanted)


def of_servers(
    context: nova_context.RequestContext, servers: Collection[str],
    *criteria: sa.ColumnElement[bool],
) -> dict[int | None, frozenset[str]]:
    """Return the cells of servers (one query).

    Servers that were not placed yet are in the cell None.

    :param servers: uuids
    :param criteria: further conditions on the mappings of the servers
    :returns: ``cell id -> server uuids``
    """
    row = models.InstanceMapping
    with api_db.context_manager.reader.using(context) as session:
        return rows.by_key(session.execute(
            sa.select(row.cell_id, row.instance_uuid).where(
                row.instance_uuid.in_(servers), *criteria)).all())


def ask_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
    read: Callable[[nova_context.RequestContext, Collection[str]], _Answer],
) -> Answers[frozenset[str], _Answer]:
    """Ask the cells of hosts, each cell about its own hosts.

    One query, and the queries of `read` in each cell.

    :param read: gets the context of a cell and the service hosts in the cell
    """
    return ask(of_hosts(context, hosts), read) if hosts else Answers({}, {})


def silent_hosts(answers: Answers[frozenset[str], object]) -> frozenset[str]:
    """Return the hosts in silent cells, from the answers of `ask_hosts`."""
    return frozenset().union(*answers.silent.values())


def by_host(
    answers: Answers[frozenset[str], Iterable[tuple[str, _Row]]],
) -> dict[str, list[_Row]]:
    """Return what the cells of `ask_hosts` know, by service host.

    :returns: a default dict of lists
    """
    found = collections.defaultdict(list)
    for its_rows in answers.known.values():
        for host, row in its_rows:
            found[host].append(row)
    return found


def ask(
    questions: Mapping[int | None, _Question],
    read: Callable[[nova_context.RequestContext, _Question], _Answer],
    timeout: float | None = None,
) -> Answers[_Question, _Answer]:
    """Ask several cells at the same time.

    Neither the cell None nor cell0, which has no hosts, is asked.

    :param questions: ``cell id -> question``
    :param read: gets the context of a cell and the question
    :param timeout: seconds; None for as long as Nova waits for a cell
    """
    return _ask([cell for cell in _mappings(questions)
                 if not cell.is_cell0()], questions, read, timeout)


def _ask(
    cells: Collection[objects.CellMapping],
    questions: Mapping[int | None, _Question],
    read: Callable[[nova_context.RequestContext, _Question], _Answer],
    timeout: float | None,
) -> Answers[_Question, _Answer]:
    if not cells:
        return Answers({}, {})
    asked = {cell.uuid: questions[cell.id] for cell in cells}

    def answer_of(context: nova_context.RequestContext) -> object:
        try:
            return read(context, asked[context.cell_uuid])
        except _SILENCE as error:
            # Nova would write a traceback for each question of an outage.
            return error

    answers = nova_context.scatter_gather_cells(
        nova_context.get_admin_context(), cells,
        nova_context.CELL_TIMEOUT if timeout is None else timeout, answer_of)
    known, silent = {}, {}
    for cell in cells:
        answer = answers[cell.uuid]
        if _is_silence(answer):
            LOG.warning('Cell %(name)s (%(uuid)s) does not answer: '
                        '%(answer)s', {'name': cell.name, 'uuid': cell.uuid,
                                       'answer': answer})
            silent[cell.uuid] = asked[cell.uuid]
        elif isinstance(answer, Exception):
            raise answer
        else:
            known[cell.uuid] = answer
    return Answers(known, silent)


def ask_all(
    read: Callable[[nova_context.RequestContext], _Answer],
) -> Answers[None, _Answer]:
    """Ask all cells the same (the queries of `read` in each cell)."""
    nova_context.load_cells()
    return ask({cell.id: None for cell in nova_context.CELLS},
               lambda context, _: read(context))


def ask_all_and_cell0(
    read: Callable[[nova_context.RequestContext], _Answer],
) -> Answers[None, _Answer]:
    """Ask all cells the same, and cell0, as `ask_all`.

    The servers that no host was found for are in cell0.
    """
    nova_context.load_cells()
    questions = {cell.id: None for cell in nova_context.CELLS}
    return _ask(_mappings(questions), questions,
                lambda context, _: read(context), None)


def _is_silence(answer: object) -> bool:
    return (answer is nova_context.did_not_respond_sentinel or
            isinstance(answer, _SILENCE))


def _mappings(
    ids: Collection[int | None],
) -> list[objects.CellMapping]:
    """Return cells by their ids."""
    nova_context.load_cells()
    wanted = frozenset(id_ for id_ in ids if id_ is not None)
    known = {cell.id: cell for cell in nova_context.CELLS}
    if not wanted <= known.keys():
        # Nova knows the cells from the start of the process.
        known = {cell.id: cell for cell in objects.CellMappingList.get_all(
            nova_context.get_admin_context())}
    return [known[id_] for id_ in sorted(wanted & known.keys())]


def silent(timeout: float) -> list[str]:
    """Return name and uuid of each silent cell.

    One query in each cell.

    :param timeout: the number of seconds to wait for the cells
    """
    nova_context.load_cells()
    cells = {cell.uuid: cell for cell in nova_context.CELLS}
    answers = ask({cell.id: None for cell in cells.values()}, ping, timeout)
    return [f'{cells[uuid].name} ({uuid})' for uuid in answers.silent]


def answering(
    answers: Answers[_Question, _Answer],
) -> dict[tuple[str, str], bool]:
    """Return which of the cells that were asked answer.

    :returns: ``(name, uuid) of a cell -> whether the cell answers``
    """
    named = {cell.uuid: cell.name or '' for cell in nova_context.CELLS}
    there = {uuid: True for uuid in answers.known} | dict.fromkeys(
        answers.silent, False)
    return {(named.get(uuid, ''), uuid): answered
            for uuid, answered in there.items()}


@main_db.pick_context_manager_reader
def ping(context: nova_context.RequestContext, _: object) -> int:
    """Answer for a cell, whatever the question (one query)."""
    return context.session.scalar(sa.select(sa.literal(1)))
