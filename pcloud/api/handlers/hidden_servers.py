# SPDX-License-Identifier: Apache-2.0

"""``/os-pcloud-hidden-servers``."""

from pcloud.api import call as api_call
from pcloud.api.schemas import shown
from pcloud.backend.cells import servers

ANSWER = shown.named('hidden_servers', shown.list_of(shown.UUID))


def index(call: api_call.Call) -> dict:
    """Return the caller's servers in parts of the cloud that do not answer.

    Nova lists such servers only as far as the first page of a list has place.

    Rule: reference-colocation-hidden
    """
    return {'hidden_servers': servers.hidden(call.context, call.project_id)}
