# SPDX-License-Identifier: Apache-2.0

"""Tables of Horizon whose rows a telephone shows as lists."""

from collections.abc import Callable
import typing

from django import http
from horizon import tables

# The class that a table has to have too.
CSS = 'pcloud-stacked'


class StackedTable(tables.DataTable):
    """A table of which each cell knows the title of its column.

    Where cells stand one below the other, no head of the table is above them.
    """

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 **kwargs: typing.Any) -> None:
        super().__init__(request, *args, **kwargs)
        for column in self.columns.values():
            if column.name != 'actions':
                column.cell_attributes_getter = _labelled(column)


def _labelled(column: tables.Column) -> Callable[[typing.Any], dict]:
    return lambda datum: {'data-label': str(column)}
