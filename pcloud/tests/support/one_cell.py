# SPDX-License-Identifier: Apache-2.0

"""A single cell with compute services, for many threads at once."""

import fixtures
from nova import context as nova_context


class OneCell(fixtures.Fixture):
    """Queries without a target cell use the cell of the compute services.

    With Nova's own fixture, threads that use different cells wait for each
    other, and many such threads wait forever.
    """

    def _setUp(self):
        cells = nova_context.target_cell.__self__
        self.useFixture(fixtures.MonkeyPatch(
            'nova.context.target_cell', cells._real_target_cell))
        self.useFixture(fixtures.MonkeyPatch(
            'nova.db.main.api.get_context_manager',
            lambda context: getattr(context, 'db_connection', None) or
            cells._default_ctxt_mgr))
