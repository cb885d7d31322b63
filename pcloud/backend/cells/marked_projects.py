# SPDX-License-Identifier: Apache-2.0

"""The projects with a server that carries a key in its metadata.

Nova has no index on the keys of servers' metadata, so that a question for a
key goes through the metadata of all servers of a cell. Who asks time and again
goes through what has been added since.

Rule: reference-worker-follow
"""

import dataclasses
import math
import time

from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
import sqlalchemy as sa

from pcloud.backend.cells import asking

# Seconds after which a transaction that began before a look has ended. A row
# may have a smaller number than a row that could be read earlier.
_LATE = 60


@dataclasses.dataclass(frozen=True)
class _Look:
    """What was seen in a cell.

    :ivar projects: the projects with a marked server
    :ivar passed: the number of a row up to which no row appears any more
    :ivar seen: the greatest number of a row at the time `at`
    :ivar at: as `time.monotonic`
    """

    projects: frozenset[str] = frozenset()
    passed: int = 0
    seen: int = 0
    at: float = -math.inf

    def following(self, newest: int, now: float) -> tuple[int, '_Look']:
        """Return the number after which to look, and the look that follows.

        :param newest: the greatest number of a row now
        """
        # Numbers that have become smaller are those of another table.
        if newest < self.seen:
            return 0, _Look(seen=newest, at=now)
        if now < self.at + _LATE:
            return self.seen, self
        return self.passed, dataclasses.replace(
            self, passed=self.seen, seen=newest, at=now)


@dataclasses.dataclass
class Memory:
    """What was seen before, so that the next question costs less.

    :ivar looks: ``cell uuid -> look``
    """

    looks: dict[str, _Look] = dataclasses.field(default_factory=dict)


def read(
    mark: str, memory: Memory,
) -> asking.Answers[None, frozenset[str]]:
    """Return the projects with a marked server, by cell.

    Two queries a cell, one more where a marked server has been added, and one
    more where such a project is known.

    :param mark: a key of the metadata of servers
    :param memory: of earlier questions for the same mark; brought up to date
    """
    answers = asking.ask_all(lambda cell: _look(
        cell, mark, memory.looks.get(cell.cell_uuid, _Look())))
    memory.looks = {
        **{uuid: memory.looks[uuid]
           for uuid in answers.silent if uuid in memory.looks},
        **answers.known}
    return asking.Answers({uuid: look.projects
                          for uuid, look in answers.known.items()},
                          answers.silent)


@main_db.pick_context_manager_reader
def _look(
    context: nova_context.RequestContext, mark: str, last: _Look,
) -> _Look:
    item, server = models.InstanceMetadata, models.Instance
    marked = (item.key == mark, item.deleted == 0)
    newest = context.session.scalar(sa.select(sa.func.max(item.id))) or 0
    passed, look = last.following(newest, time.monotonic())
    added = frozenset(context.session.scalars(
        sa.select(item.instance_uuid).where(item.id > passed, *marked)))
    projects: set[str] = set()
    if added:
        projects.update(project for uuid, project in context.session.execute(
            sa.select(server.uuid, server.project_id).where(
                server.deleted == 0, server.uuid.in_(added)))
            if uuid in added)
    if last.projects:
        projects.update(context.session.scalars(
            sa.select(server.project_id).distinct()
            .join(item, item.instance_uuid == server.uuid)
            .where(server.deleted == 0, *marked,
                   server.project_id.in_(last.projects))))
    return dataclasses.replace(look, projects=frozenset(projects))
