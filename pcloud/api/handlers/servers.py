# SPDX-License-Identifier: Apache-2.0

"""``/os-pcloud-servers``."""

from oslo_config import cfg

from pcloud.api import call as api_call
from pcloud.api.schemas import servers as schema
from pcloud.api.views import servers as views
from pcloud.objects import placed_servers

CONF = cfg.CONF


def index(call: api_call.Call) -> dict:
    """List the project's servers on hosts of Pclouds, in order of the ids.

    Servers that are named are a single page.

    Rule: reference-pclouds-servers
    """
    named = _named(call)
    most = CONF.api.max_limit if named is None else schema.MOST_SERVERS
    limit = min(int(call.query.get('limit', most)), most)
    found = placed_servers.index(
        call.context, call.project_id, named, call.query.get('marker', ''))
    return {'servers': [views.show(server) for server in found[:limit]]}


def _named(call: api_call.Call) -> list[str] | None:
    """Return the servers in the query, None for all servers."""
    named = call.query.get('server')
    return [named] if isinstance(named, str) else named
