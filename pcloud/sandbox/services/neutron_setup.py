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

"""Make Neutron's database.

Run as a program: ``python -m pcloud.sandbox.services.neutron_setup DIR``.
Neutron's migrations do not work on SQLite, and take minutes elsewhere;
Neutron's models do work, and Neutron's own tests make their databases from
the models in the same way.
"""

import sys

from neutron.db.migration.models import head
import sqlalchemy

from pcloud.sandbox import databases
from pcloud.sandbox import layout
from pcloud.sandbox import settings


def main() -> None:
    """Make the database of the sandbox in the folder sys.argv[1]."""
    where = layout.Layout(sys.argv[1])
    chosen = settings.read(where).settings
    engine = sqlalchemy.create_engine(
        databases.url(where, chosen, 'neutron'))
    head.get_metadata().create_all(engine)
    engine.dispose()


if __name__ == '__main__':
    main()
