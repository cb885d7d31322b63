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


"""Make a service's tables from the service's models.

The migrations of Placement and Glance make the same tables, in a process of
their own that imports the whole service once more. Neutron's migrations do
not work on SQLite, and take minutes elsewhere; Neutron's own tests make their
databases from the models.
"""

from collections.abc import Callable

import sqlalchemy


def _placement() -> list[sqlalchemy.MetaData]:
    from placement.db.sqlalchemy import models

    return [models.BASE.metadata]


def _glance() -> list[sqlalchemy.MetaData]:
    from glance.db.sqlalchemy import models
    from glance.db.sqlalchemy import models_metadef

    return [models.BASE.metadata, models_metadef.BASE_DICT.metadata]


def _neutron() -> list[sqlalchemy.MetaData]:
    from neutron.db.migration.models import head

    return [head.get_metadata()]


# A service is imported when its tables are made: the others would take
# seconds.
_MODELS: dict[str, Callable[[], list[sqlalchemy.MetaData]]] = {
    'placement': _placement, 'glance': _glance, 'neutron': _neutron}


def make(service: str, url: str) -> None:
    """Make the tables that the database does not have yet.

    :param service: ``placement``, ``glance`` or ``neutron``
    :param url: the URL of the database
    """
    engine = sqlalchemy.create_engine(url)
    for metadata in _MODELS[service]():
        metadata.create_all(engine)
    engine.dispose()
