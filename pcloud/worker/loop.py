# SPDX-License-Identifier: Apache-2.0

"""Passes, one after the other, until the worker is asked to end.

Rule: reference-worker
"""

from collections.abc import Callable
import functools
import threading

from nova import context as nova_context
from oslo_log import log as logging

from pcloud.worker import owner_threads
from pcloud.worker import passes
from pcloud.worker import scaled_services

LOG = logging.getLogger(__name__)


def run(interval: float, end: threading.Event) -> None:
    """Make a pass, wait, and make the next pass.

    Hosts and scaled services have separate passes, in two threads: a drain
    does not wait for the many calls of looks. The Pclouds of an owner have a
    thread, for which no pass waits. All that is under way is finished before
    the end.

    :param interval: how many seconds to wait between two passes
    :param end: set when the worker is to end
    """
    LOG.info('The worker looks every %g s for what is due.', interval)
    follower = threading.Thread(
        target=_follow, args=(interval, end), daemon=True)
    follower.start()
    threads = owner_threads.OwnerThreads()
    _repeat(functools.partial(passes.hosts, submit=threads.submit),
            interval, end)
    threads.end()
    follower.join()
    LOG.info('The worker ends.')


def _follow(interval: float, end: threading.Event) -> None:
    memory = scaled_services.PassMemory()
    try:
        _repeat(functools.partial(passes.services, memory=memory),
                interval, end)
    finally:
        # Half a worker is none: whoever watches over workers starts another.
        end.set()


def _repeat(
    look: Callable[[nova_context.RequestContext], bool], interval: float,
    end: threading.Event,
) -> None:
    while not end.is_set():
        look(nova_context.get_admin_context())
        end.wait(interval)
