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

"""Read what launches into a growing Pcloud have written.

Rule: reference-default-pcloud-grow-turns
"""

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa

from pcloud import names

_ROW = models.AggregateMetadata


def reservations(
    context: nova_context.RequestContext, aggregate_id: int,
) -> dict[str, str]:
    """Return the room kept for launches into a Pcloud (one query).

    :returns: ``token -> reservation``, as written
    """
    with api_db.context_manager.reader.using(context) as session:
        return names.stripped(dict(session.execute(
            sa.select(_ROW.key, _ROW.value).where(
                _ROW.aggregate_id == aggregate_id,
                _ROW.key.startswith(names.GROWTH_PREFIX, autoescape=True),
                _ROW.key != names.GROWTH_TURN)
        ).all()), names.GROWTH_PREFIX)
