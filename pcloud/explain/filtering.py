# SPDX-License-Identifier: Apache-2.0

"""The scheduler's filters, and why a filter drops a host.

The reasons of Pcloud's own filters come from the filters' method ``why``, so
the reasons are the reasons of the decision. Of Nova's filters `ComputeFilter`
is explained; hosts dropped by other filters are counted without a reason.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import dataclasses

from nova import exception as nova_exception
from nova import filters as nova_filters
from nova import objects
from nova.scheduler import filters as host_filters
from nova.scheduler.filters import compute_filter
from nova.scheduler import host_manager
from oslo_config import cfg
from oslo_log import log as logging

from pcloud import exception
from pcloud.explain import conductor
from pcloud.explain import loading
from pcloud.objects.placing import sticky_keys
from pcloud.rules import coded
from pcloud.rules.placing import reasons

CONF = cfg.CONF
LOG = logging.getLogger(__name__)


_FAILED = coded.Reason('filter_failed')


@dataclasses.dataclass(frozen=True)
class Loaded:
    """The enabled filters.

    :ivar filters: the filters in the order in which Nova asks the filters
    :ivar missing: ``filter -> reason`` for each filter which this process
        cannot load; nova-scheduler would not start without such a filter
    """

    filters: list[nova_filters.BaseFilter]
    missing: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Judged:
    """A host, and what a filter says of it.

    :ivar reason: None when the filter gives no reason
    """

    host_state: host_manager.HostState
    reason: reasons.Reason | None


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a filter for some hosts.

    :ivar rule: the filter's name
    :ivar refusal: why the filter ends the whole request, or how the filter
        failed; None when the request goes on
    :ivar unknown: the hosts that the filter keeps for want of a figure
    """

    rule: str
    hosts: list[host_manager.HostState]
    dropped: list[Judged]
    refusal: reasons.Reason | None = None
    unknown: Sequence[Judged] = ()


def load() -> Loaded:
    """Load the filters of ``[filter_scheduler]``, as nova-scheduler does."""
    filter_classes, broken = loading.classes(
        host_filters.HostFilterHandler(),
        CONF.filter_scheduler.available_filters)
    classes = {class_.__name__: class_ for class_ in filter_classes}
    enabled = CONF.filter_scheduler.enabled_filters
    why = '; '.join(f'{path} cannot be loaded: {error}'
                    for path, error in broken.items())
    made, failed = loading.instances(
        [classes[rule] for rule in enabled if rule in classes])
    return Loaded(made, failed | {
        rule: why or 'it is in none of available_filters'
        for rule in enabled if rule not in classes})


def name(filter_: nova_filters.BaseFilter) -> str:
    """Return the name of a filter, as in ``enabled_filters``."""
    return type(filter_).__name__


def is_explained(filter_: nova_filters.BaseFilter) -> bool:
    """Whether the reasons of a filter are known."""
    return hasattr(filter_, 'why') or type(filter_) in _NOVA


@contextlib.contextmanager
def keeping_candidates(
    host_states: Sequence[host_manager.HostState],
) -> Iterator[None]:
    """Restore the allocation candidates of hosts after the block."""
    before = [host_state.allocation_candidates for host_state in host_states]
    yield
    for host_state, candidates in zip(host_states, before, strict=True):
        host_state.allocation_candidates = candidates


def outcome(
    filter_: nova_filters.BaseFilter,
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> Outcome:
    """Ask a filter which hosts it drops, and why.

    A filter may change the allocation candidates of the hosts, and keep values
    with the request. A failing filter drops all hosts.
    """
    passing, refusal = ask(filter_, host_states, spec)
    passed = {id(host_state) for host_state in passing}
    texts = _reasons(filter_, host_states, spec, refusal) if len(
        passed) < len(host_states) else []
    return Outcome(name(filter_), passing, [
        Judged(host_state, reason) for host_state, reason
        in zip(host_states, texts) if id(host_state) not in passed], refusal,
        _unknown(filter_, passing))


def _unknown(
    filter_: nova_filters.BaseFilter,
    passing: Sequence[host_manager.HostState],
) -> list[Judged]:
    """Return the hosts of which a filter does not know what it asks for."""
    if not hasattr(filter_, 'unknown'):
        return []
    return [Judged(host_state, reason) for host_state, reason
            in zip(passing, filter_.unknown(passing), strict=True) if reason]


def ask(
    filter_: nova_filters.BaseFilter,
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> tuple[list[host_manager.HostState], reasons.Reason | None]:
    """Ask a filter which hosts it keeps, without reasons for the other hosts.

    :returns: the hosts kept; and the reason to end the request, None when the
        request goes on
    """
    try:
        with sticky_keys.explaining():
            passing = filter_.filter_all(host_states, spec)
            # To Nova None is the end of the request.
            return [] if passing is None else list(passing), None
    except nova_exception.NoValidHost as error:
        return [], reasons.open_to_all(conductor.reason(error))
    except Exception as error:  # Whatever a foreign filter may raise.
        LOG.exception('Filter %(name)s failed.', {'name': name(filter_)})
        return [], reasons.Reason(
            f'{_FAILED}: {type(error).__name__}: {error}', _FAILED)


def is_failure(reason: reasons.Reason) -> bool:
    """Whether a request ended for a filter that failed."""
    return reason.tenant_text == _FAILED


def _reasons(
    filter_: nova_filters.BaseFilter,
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    refusal: reasons.Reason | None,
) -> list[reasons.Reason | None]:
    """Return why a filter drops each host."""
    if type(filter_) in _NOVA:
        host_reasons = _NOVA[type(filter_)](filter_, host_states)
    elif hasattr(filter_, 'why'):
        try:
            host_reasons = filter_.why(host_states, spec)
        except exception.PcloudError as error:
            host_reasons = [reasons.open_to_all(str(error))] * len(host_states)
    else:
        host_reasons = [None] * len(host_states)
    # Each host may be right by itself when all hosts together are not.
    return [refusal if reason is None else reason for reason in host_reasons]


def _compute_reasons(
    filter_: compute_filter.ComputeFilter,
    host_states: Sequence[host_manager.HostState],
) -> list[reasons.Reason | None]:
    return [_compute_reason(filter_, host_state.service)
            for host_state in host_states]


def _compute_reason(
    filter_: compute_filter.ComputeFilter, service: Mapping,
) -> reasons.Reason | None:
    if service['disabled']:
        return reasons.open_to_all(
            'its compute service is disabled',
            service.get('disabled_reason') or '')
    if not filter_.servicegroup_api.service_is_up(service):
        return reasons.open_to_all(
            'its compute service is down', _since(service))
    return None


def _since(service: Mapping) -> str:
    if service['forced_down']:
        return 'it is forced down'
    seen = service['last_seen_up']
    return (f'last heard of at {seen:%Y-%m-%dT%H:%M:%SZ}' if seen else
            'it was never heard of')


# Nova's own filters whose reasons can be read from the host.
_NOVA = {compute_filter.ComputeFilter: _compute_reasons}
