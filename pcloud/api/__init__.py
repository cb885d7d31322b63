# SPDX-License-Identifier: Apache-2.0

"""Pcloud's REST API, a filter in front of nova-api's own application."""

from collections.abc import Callable


def filter_factory(global_conf: dict, **local_conf: str) -> Callable:
    """Make the filter that api-paste.ini names (``paste.filter_factory``).

    Nova's API is imported when paste calls the factory: a process that reads
    only the policies or the routes does not load Nova's API.
    """
    from pcloud.api import wsgi

    return wsgi.wrap
