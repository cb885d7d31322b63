# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Ask Nova for something about a server, which may have got busy."""

from collections.abc import Callable

from nova import context as nova_context
from nova import exception as nova_exception
from oslo_log import log as logging

LOG = logging.getLogger(__name__)


def ask(
    call: Callable[..., None],
    context: nova_context.RequestContext, server: str, *target: str | None,
) -> bool:
    """Ask Nova for something, and return whether Nova has begun.

    A server that was locked, deleted or got busy meanwhile is left alone.
    """
    return refusal(call, context, server, *target) is None


def refusal(
    call: Callable[..., None],
    context: nova_context.RequestContext, server: str, *target: str | None,
) -> nova_exception.NovaException | None:
    """Ask Nova for something, and return why Nova has not begun."""
    try:
        call(context, server, *target)
    except nova_exception.NovaException as error:
        LOG.info('Server %(server)s stays for now: %(error)s',
                 {'server': server, 'error': error})
        return error
    return None
