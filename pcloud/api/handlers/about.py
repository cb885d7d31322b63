# SPDX-License-Identifier: Apache-2.0

"""``/os-pcloud``, by which clients know what they may ask for."""

from oslo_config import cfg

from pcloud.api import call as api_call
from pcloud.api.handlers import room
from pcloud.api.schemas import shown
from pcloud.api.views import times
from pcloud.backend import limits
from pcloud.objects import looks

CONF = cfg.CONF

VERSION = '1.0'

# What the API has, so that a client need not try.
EXTENSIONS = (
    'audit',
    'default-pcloud',
    'drain',
    'explain',
    'hidden-servers',
    'host-resources',
    'maintenance',
    'pcloud-details',
    'rebalance',
    'recovery',
    'rehearsal',
    'room',
    'servers',
    'settling',
    'shrinking',
    'simulate',
    'spares',
    'tenant-caps',
    'tenant-names',
    'usage',
    'usage-days',
    'waiting',
    'worker-seen',
)

ANSWER = shown.named('pcloud_api', shown.members({
    'version': shown.TEXT,
    'extensions': shown.list_of({'type': 'string', 'enum': [*EXTENSIONS]}),
    'worker_seen': shown.MOMENT_OR_NULL,
    'limits': shown.members(dict.fromkeys((
        'pclouds_per_page', 'room_flavors', 'room_servers', 'wait_entries',
        'wait_seconds'), shown.COUNT) | {'quota_units': {'type': 'integer'}}),
}))


def show(call: api_call.Call) -> dict:
    """Show the API's version and limits, and when a worker has looked.

    Rule: reference-about
    """
    return {'pcloud_api': {
        'version': VERSION,
        'extensions': list(EXTENSIONS),
        'worker_seen': times.shown_seconds(looks.seen(call.context)),
        'limits': {'pclouds_per_page': CONF.api.max_limit,
                   'quota_units': limits.default(),
                   'room_flavors': room.MOST_FLAVORS,
                   'room_servers': room.MOST_SERVERS,
                   'wait_entries': CONF.pcloud.wait_entries,
                   'wait_seconds': CONF.pcloud.wait_limit}}}
