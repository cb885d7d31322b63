# SPDX-License-Identifier: Apache-2.0

"""The calls of the wing, rows of `pcloud.api.routes.ROUTES`."""

from pcloud.api.policies import others
from pcloud.api import route
from pcloud.usage import handlers

ROUTES = [
    route.Route('GET', '/os-pclouds/{id}/usage', handlers.show_pcloud,
                others.PCLOUD_USAGE_SHOW, 200,
                answer=handlers.PCLOUD_ANSWER),
    route.Route('GET', '/os-pcloud-usage', handlers.index,
                others.USAGE_INDEX, 200, query=handlers.INDEX_QUERY,
                answer=handlers.INDEX_ANSWER),
    route.Route('GET', '/os-pcloud-usage/{project}', handlers.show,
                others.USAGE_SHOW, 200, query=handlers.SHOW_QUERY,
                answer=handlers.SHOW_ANSWER),
]
