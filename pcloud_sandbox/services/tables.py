# SPDX-License-Identifier: Apache-2.0

"""Make a service's tables from the service's models.

The migrations of Placement, Glance and Heat make the same tables, in a
process of their own that imports the whole service once more. Neutron's
migrations do not work on SQLite, and take minutes elsewhere; Neutron's own
tests make their databases from the models.
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


def _heat() -> list[sqlalchemy.MetaData]:
    from heat.db import models

    return [models.BASE.metadata]


# A service is imported when its tables are made: the others would take
# seconds.
_MODELS: dict[str, Callable[[], list[sqlalchemy.MetaData]]] = {
    'placement': _placement, 'glance': _glance, 'neutron': _neutron,
    'heat': _heat}


def make(service: str, url: str) -> None:
    """Make the tables that the database does not have yet.

    :param service: ``placement``, ``glance``, ``neutron`` or ``heat``
    :param url: the URL of the database
    """
    engine = sqlalchemy.create_engine(url)
    for metadata in _MODELS[service]():
        metadata.create_all(engine)
    engine.dispose()
