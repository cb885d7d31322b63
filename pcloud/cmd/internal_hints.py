# SPDX-License-Identifier: Apache-2.0

"""Hints that Nova keeps for itself, in a request of a user (OSSA-2026-022).

With the hint ``_nova_check_type`` Nova's conductor tells the scheduler that a
server is rebuilt where the server is: most filters, all request filters and
the candidates of Placement are skipped. A Nova without the fix takes the hint
from a user too. The version does not tell: development builds between a
release and the fix have higher versions than the release with the fix, and
distributors add the fix to older releases.
"""

from nova.compute import api as compute_api

_REBUILD = {'_nova_check_type': 'rebuild'}


def reach_scheduler(nova_api: type = compute_api.API) -> bool:
    """Whether a new server's request keeps an internal hint of a user.

    The question is put to Nova's code, which is called as for a new server, up
    to the point where the code would write to the database.

    :param nova_api: the class that creates servers
    """
    class Probe(nova_api):
        """Creates no server, and so needs none of Nova's clients."""

        def __init__(self) -> None:
            pass

        def _create_instance(self, *args: object, **kwargs: object) -> object:
            return kwargs['filter_properties']

    found = Probe().create(None, None, None, scheduler_hints=_REBUILD)
    return not _REBUILD.keys().isdisjoint(found.get('scheduler_hints') or {})
