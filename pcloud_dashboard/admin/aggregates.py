# SPDX-License-Identifier: Apache-2.0

"""Host aggregates of Pcloud, on Horizon's own page of aggregates.

Pcloud keeps all it knows in aggregates. Whoever edits or deletes these by
hand breaks Pclouds, so the page only shows them.
"""

import typing

from django import http
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import tables
from openstack_dashboard.dashboards.admin.aggregates import tables as known

_BEGINNING = 'Pcloud:'
_JOURNAL = 'pcloud-journal'
_TYPE = 'pcloud:type'


def is_managed(aggregate: typing.Any) -> bool:
    """Return whether an aggregate is one of Pcloud's own."""
    is_named = (aggregate.name.startswith(_BEGINNING)
                or aggregate.name == _JOURNAL)
    return is_named and _TYPE in (aggregate.metadata or {})


def _for_others(action: type) -> type:
    """Return an action that aggregates of Pcloud do not have."""
    class OfOthers(action):
        """The action, for all other aggregates."""

        def allowed(self, request: http.HttpRequest,
                    datum: typing.Any = None) -> bool:
            """Return whether a row has the action."""
            if datum is not None and is_managed(datum):
                return False
            return super().allowed(request, datum)

    return OfOthers


def _name(aggregate: typing.Any) -> str:
    if not is_managed(aggregate):
        return aggregate.name
    return format_html('{} <span class="label label-default">{}</span>',
                       aggregate.name, gettext('managed by Pcloud'))


class Row(tables.Row):
    """A row that can be chosen unless it is Pcloud's."""

    def can_be_selected(self, datum: typing.Any) -> bool:
        """Return whether the row has a check box."""
        return not is_managed(datum)


class HostAggregatesTable(known.HostAggregatesTable):
    """Horizon's table; rows of Pcloud are marked and have no actions."""

    name = tables.WrappingColumn(_name, verbose_name=_('Name'))

    class Meta(known.HostAggregatesTable.Meta):
        row_class = Row
        row_actions = tuple(map(
            _for_others, known.HostAggregatesTable.Meta.row_actions))
        table_actions = tuple(
            _for_others(action) if issubclass(action, tables.DeleteAction)
            else action
            for action in known.HostAggregatesTable.Meta.table_actions)
