# SPDX-License-Identifier: Apache-2.0

"""One look at everything due in a cloud.

Each step is harmless when repeated or made by several workers at the same
time. A pass without work makes a constant number of queries, for any number of
Pclouds.

Rule: reference-worker-passes
"""

from collections.abc import Callable
from collections.abc import Iterable
import functools
import random
from typing import TypeAlias

from nova import context as nova_context
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend import outages
from pcloud import exception
from pcloud.moving import due_pclouds
from pcloud.moving import leaving
from pcloud.moving import maintenance
from pcloud.moving import steps
from pcloud.objects.changing_hands import matching
from pcloud.objects import looks
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.usage import existing_hosts
from pcloud.worker import credentials
from pcloud.worker import scaled_services

LOG = logging.getLogger(__name__)


# Gets an owner, and what is to be done for the Pclouds of the owner.
Submit: TypeAlias = Callable[[str, Callable[[], None]], None]


def once(context: nova_context.RequestContext) -> bool:
    """Do everything due, as far as possible.

    What an absent part of the cloud keeps from being done stays due, and
    keeps nothing else from being done.

    :returns: whether no part of the cloud was away
    """
    return all([hosts(context, immediately),
                services(context, scaled_services.PassMemory())])


def immediately(owner: str, work: Callable[[], None]) -> None:
    """Do the work for an owner, and wait for its end."""
    work()


def hosts(context: nova_context.RequestContext, submit: Submit) -> bool:
    """Do what is due for hosts, as `once`.

    :param submit: has the work for an owner done, now or later
    """
    def _drain(context: nova_context.RequestContext) -> None:
        _step_pclouds(context, submit)

    return all([_done(context, step) for step in (
        _look, _settle, _maintain, _drain, _confirm, _match, _leave)])


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
    reconcile.finish_all(context)


def _maintain(context: nova_context.RequestContext) -> None:
    """Close hosts when a maintenance begins, and open hosts afterwards."""
    maintenance.step(context)


def _step_pclouds(
    context: nova_context.RequestContext, submit: Submit,
) -> None:
    """Do what is due for the hosts of Pclouds, in any order.

    Other workers begin with other Pclouds, and leave out those that somebody
    is at.
    """
    pclouds_of: dict[str, list[str]] = {}
    for pcloud_id, owner in due_pclouds.find(context).items():
        pclouds_of.setdefault(owner, []).append(pcloud_id)
    owners = list(pclouds_of)
    random.shuffle(owners)
    for owner in owners:
        random.shuffle(pclouds_of[owner])
        submit(owner, functools.partial(_work_for, pclouds_of[owner]))


def _work_for(pcloud_ids: Iterable[str]) -> None:
    """Do what is due for the hosts of some Pclouds, one after the other."""
    context = credentials.administrator()
    for pcloud_id in pcloud_ids:
        try:
            steps.step(context, pclouds.head(context, pcloud_id))
        except exception.PcloudNotFound:
            LOG.info('Pcloud %s is gone.', pcloud_id)
        except outages.ANY as error:
            LOG.warning('What is due for Pcloud %(pcloud)s has still to be '
                        'done: %(error)s',
                        {'pcloud': pcloud_id, 'error': error})


def _confirm(context: nova_context.RequestContext) -> None:
    """Confirm moves whose drain has ended meanwhile."""
    steps.confirm(context)


def _match(context: nova_context.RequestContext) -> None:
    """Give free hosts to those who wait for hosts."""
    matching.step(context)


def _leave(context: nova_context.RequestContext) -> None:
    """Drain hosts whose date has come."""
    leaving.step(context)


def _look(context: nova_context.RequestContext) -> None:
    """Tell billing of the hosts that are held, and note that a worker looks.

    Noted is when the look has begun: an hour that begins meanwhile has still
    to be told. Nothing is noted where telling has failed.
    """
    begun = int(timeutils.utcnow_ts())
    existing_hosts.tell(context, begun)
    looks.note(context, begun)
