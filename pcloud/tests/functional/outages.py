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


"""Parts of the cloud that are away for a while."""

import fixtures
from nova import context as nova_context
from nova.db.main import api as main_db
from nova import objects
from oslo_db import exception as db_exc
import sqlalchemy as sa


class SilentCell(fixtures.Fixture):
    """The database of a cell refuses every statement, whoever asks."""

    def __init__(self, cell: objects.CellMapping):
        self._cell = cell

    def _setUp(self):
        with nova_context.target_cell(
                nova_context.get_admin_context(), self._cell) as context:
            engine = main_db.get_engine(context=context)
        what = engine, 'before_cursor_execute', self._refuse
        sa.event.listen(*what)
        self.addCleanup(sa.event.remove, *what)

    @staticmethod
    def _refuse(*args):
        raise db_exc.DBConnectionError()
