# SPDX-License-Identifier: Apache-2.0

"""The calls of the wing, rows of `pcloud.api.routes.ROUTES`."""

from pcloud.api.policies import hosts
from pcloud.api.policies import others
from pcloud.api import route
from pcloud.planning.handlers import explain
from pcloud.planning.handlers import rebalance
from pcloud.planning.handlers import rehearsal
from pcloud.planning.handlers import simulate

ROUTES = [
    route.Route('GET', '/os-pclouds/{id}/explain', explain.show,
                others.EXPLAIN_SHOW, 200, query=explain.SHOW_QUERY,
                answer=explain.ANSWER),
    route.Route('GET', '/os-pclouds/{id}/rehearsal', rehearsal.show,
                others.REHEARSAL_SHOW, 200, query=rehearsal.SHOW_QUERY,
                answer=rehearsal.ANSWER),
    route.Route('POST', '/os-pclouds/{id}/simulate', simulate.ask,
                others.SIMULATE_ASK, 200, simulate.ASK_BODY,
                answer=simulate.ANSWER),
    route.Route('GET', '/os-pclouds/{id}/rebalance', rebalance.show,
                others.REBALANCE_SHOW, 200, query=rebalance.SHOW_QUERY,
                answer=rebalance.ANSWER),
    route.Route('POST', '/os-pclouds/{id}/rebalance', rebalance.begin,
                hosts.MOVE, 202, rebalance.BEGIN_BODY,
                answer=rebalance.ANSWER),
    route.Route('DELETE', '/os-pclouds/{id}/rebalance', rebalance.end,
                hosts.MOVE, 204),
]
