# SPDX-License-Identifier: Apache-2.0

"""One look at everything due in a cloud.

Each step is harmless when repeated or made by several workers at the same
time. A pass without work makes a constant number of queries, for any number of
Pclouds.

Rule: reference-worker-passes
"""

from collections.abc import Callable

from nova import context as nova_context
from oslo_log import log as logging

from pcloud.backend.aggregates import step_rows
from pcloud.backend.changes import journal
from pcloud.backend import outages
from pcloud import exception
from pcloud.moving import maintenance
from pcloud.moving import steps
from pcloud.objects import looks
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.worker import scaled_services

LOG = logging.getLogger(__name__)


def once(context: nova_context.RequestContext) -> bool:
    """Do everything due, as far as possible.

    What an absent part of the cloud keeps from being done stays due, and
    keeps nothing else from being done.

    :returns: whether no part of the cloud was away
    """
    return all([hosts(context),
                services(context, scaled_services.PassMemory())])


def hosts(context: nova_context.RequestContext) -> bool:
    """Do what is due for hosts, as `once`."""
    return all([_done(context, step) for step in _STEPS])


def services(
    context: nova_context.RequestContext, memory: scaled_services.PassMemory,
) -> bool:
    """Do what is due for scaled services, as `once`."""
    def _follow(context: nova_context.RequestContext) -> None:
        scaled_services.follow(context, memory)

    return _done(context, _follow)


def _done(
    context: nova_context.RequestContext,
    step: Callable[[nova_context.RequestContext], None],
) -> bool:
    try:
        step(context)
    except outages.ANY as error:
        LOG.warning('The step "%(step)s" has to be made later: %(error)s',
                    {'step': step.__name__.strip('_'), 'error': error})
        return False
    return True


def _settle(context: nova_context.RequestContext) -> None:
    """Do what is due for hosts that change hands."""
    reconcile.finish(context, sorted(journal.dues(context)))


def _maintain(context: nova_context.RequestContext) -> None:
    """Close hosts when a maintenance begins, and open hosts afterwards."""
    maintenance.step(context)


def _drain(context: nova_context.RequestContext) -> None:
    """Do what is due for the hosts of every Pcloud with such hosts."""
    for pcloud_id in step_rows.with_steps(context):
        # A pass through many Pclouds may be long.
        looks.note(context)
        try:
            steps.step(context, pclouds.head(context, pcloud_id))
        except exception.PcloudNotFound:
            LOG.info('Pcloud %s is gone.', pcloud_id)


def _confirm(context: nova_context.RequestContext) -> None:
    """Confirm moves whose drain has ended meanwhile."""
    steps.confirm(context)


def _look(context: nova_context.RequestContext) -> None:
    """Note that a worker looks."""
    looks.note(context)


_STEPS = (_look, _settle, _maintain, _drain, _confirm)
