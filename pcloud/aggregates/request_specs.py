# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What servers were started with, from Nova's request specs."""

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import itertools

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from oslo_serialization import jsonutils
import sqlalchemy as sa

# So many ids go into one query; not every database takes all of a cloud's.
_BATCH = 500


def hints(
    context: nova_context.RequestContext, servers: Collection[str],
) -> dict[str, Mapping[str, Sequence[str]]]:
    """Return the scheduler hints of servers, by their uuids.

    One query for five hundred servers. One without a request spec has no
    entry.
    """
    found = {}
    row = models.RequestSpec
    for batch in _batches(servers):
        statement = sa.select(row.instance_uuid, row.spec).where(
            row.instance_uuid.in_(batch))
        with api_db.context_manager.reader.using(context) as session:
            for server, spec in session.execute(statement):
                data = jsonutils.loads(spec)['nova_object.data']
                found[server] = data.get('scheduler_hints') or {}
    return found


def with_hint(
    context: nova_context.RequestContext, servers: Collection[str],
    name: str,
) -> dict[str, tuple[str, Mapping[str, Sequence[str]]]]:
    """Return project and scheduler hints of the servers that have a hint.

    One query for five hundred servers; the specs of the others, which are
    long, are not even sent.

    :param name: the hint's name, which occurs nowhere else
    """
    found = {}
    row = models.RequestSpec
    for batch in _batches(servers):
        statement = sa.select(row.instance_uuid, row.spec).where(
            row.instance_uuid.in_(batch),
            row.spec.contains(name, autoescape=True))
        with api_db.context_manager.reader.using(context) as session:
            for server, spec in session.execute(statement):
                data = jsonutils.loads(spec)['nova_object.data']
                found[server] = (data.get('project_id') or '',
                                 data.get('scheduler_hints') or {})
    return found


def _batches(servers: Collection[str]) -> Iterator[tuple[str, ...]]:
    left = iter(sorted(servers))
    while batch := tuple(itertools.islice(left, _BATCH)):
        yield batch
