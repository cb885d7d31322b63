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

"""Read the availability zones of hosts from the hosts' aggregates."""

from collections.abc import Collection

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa


def of_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, str]:
    """Return the availability zones of hosts.

    One query. A host without an entry is in Nova's default zone.

    :returns: ``service host -> availability zone``
    """
    if not hosts:
        return {}
    statement = sa.select(
        models.AggregateHost.host, models.AggregateMetadata.value,
    ).join(
        models.AggregateMetadata,
        models.AggregateMetadata.aggregate_id ==
        models.AggregateHost.aggregate_id,
    ).where(models.AggregateMetadata.key == 'availability_zone',
            models.AggregateHost.host.in_(hosts))
    with api_db.context_manager.reader.using(context) as session:
        return dict(session.execute(statement).all())
