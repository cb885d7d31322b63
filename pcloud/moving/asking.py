# SPDX-License-Identifier: Apache-2.0

"""Ask Nova for actions on servers, which may have got busy."""

from collections.abc import Callable

from nova import context as nova_context
from nova import exception as nova_exception
from oslo_log import log as logging

LOG = logging.getLogger(__name__)


def ask(
    call: Callable[..., None],
    context: nova_context.RequestContext, server: str, *target: str | None,
) -> bool:
    """Ask Nova for an action, and return whether Nova has begun.

    A server that got locked, deleted or busy meanwhile is left alone.
    """
    return refusal(call, context, server, *target) is None


def refusal(
    call: Callable[..., None],
    context: nova_context.RequestContext, server: str, *target: str | None,
) -> nova_exception.NovaException | None:
    """Ask Nova for an action, and return why Nova has not begun."""
    try:
        call(context, server, *target)
    except nova_exception.NovaException as error:
        LOG.info('Server %(server)s stays for now: %(error)s',
                 {'server': server, 'error': error})
        return error
    return None
