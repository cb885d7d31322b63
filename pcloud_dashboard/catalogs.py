# SPDX-License-Identifier: Apache-2.0

"""The texts of scripts, which browsers keep for each language.

Horizon serves the texts of all scripts at one address, whatever the language,
with the time of the last start as the only mark: a browser goes on with the
texts of the language before, on a page of another language.
"""

from collections.abc import Callable

from django import http
from django.utils import translation
from django.views.decorators import cache
from django.views.decorators import http as http_decorators
from django.views import i18n
from horizon import site_urls

_NAME = 'jsi18n'


def _mark(_request: http.HttpRequest, packages: str) -> str:
    """Return the mark of the texts: of the language and of the last start."""
    return (f'"{translation.get_language()}-'
            f'{site_urls.last_modified_date.timestamp()}"')


def tell_apart() -> None:
    """Have browsers ask for the texts anew when the language is another."""
    texts: Callable = cache.cache_control(no_cache=True)(
        http_decorators.etag(_mark)(i18n.JavaScriptCatalog.as_view()))
    for pattern in site_urls.urlpatterns:
        if getattr(pattern, 'name', None) == _NAME:
            pattern.callback = texts
