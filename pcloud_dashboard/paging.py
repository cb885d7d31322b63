# SPDX-License-Identifier: Apache-2.0

"""Long lists, page by page."""

from collections.abc import Sequence
import typing

from django.core import paginator
from django import http

_Item = typing.TypeVar('_Item')

# The rows of a page.
SIZE = 20


def page(request: http.HttpRequest,
         items: Sequence[_Item]) -> paginator.Page:
    """Return the page of a list that an address asks for.

    A page that is not there is the first, or the last.
    """
    return paginator.Paginator(items, SIZE).get_page(
        request.GET.get('page', ''))


def query(request: http.HttpRequest) -> str:
    """Return the part of the address that leads to the other pages.

    The number of the page follows.
    """
    asked = request.GET.copy()
    asked.pop('page', None)
    return asked.urlencode()
