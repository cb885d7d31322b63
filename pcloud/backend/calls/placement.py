# SPDX-License-Identifier: Apache-2.0

"""Read and change what Placement holds of a host.

Names of HTTP calls are the names of the Placement API reference.
"""

import collections
from collections.abc import Iterable
from collections.abc import Mapping
from email import utils as email_utils
import typing
import urllib.parse

from keystoneauth1 import exceptions as ks_exc
from nova import context as nova_context
from nova.scheduler.client import report
from nova.scheduler import utils
from oslo_log import log as logging
import tenacity

from pcloud import exception
from pcloud.rules import capacity
from pcloud.rules import host_resources

LOG = logging.getLogger(__name__)

_MISSING = 404
# Placement answers so to a query with a resource class that is unknown.
_UNKNOWN = 400
# Placement answers 500 when its database breaks a deadlock.
_ONCE_MORE = (409, 500)

# From here on Placement has traits.
_TRAITS = '1.6'
# From here on Placement shows the root of a provider.
_ROOTS = '1.14'
# From here on a provider's aggregates come with its generation.
_GENERATIONS = '1.19'
# From here on a provider shows the tree of the provider.
_PROVIDER_TREES = '1.14'
# From here on allocations have the generation of their consumer, and no
# allocations are as good as any.
_CONSUMER_GENERATIONS = '1.28'
# From here on Placement takes inventories without any capacity: nova-compute
# asks for such inventories, and a very small ratio leads to such inventories.
_NO_CAPACITY = '1.26'
# From here on Placement shows all providers of a host with all resources, and
# accepts forbidden aggregates.
_TREES = '1.32'
# From here on allocation candidates tell which provider is for which group.
_MAPPINGS = '1.34'


class Outdated(Exception):
    """A resource provider has changed since the last read."""


def _give_up(_: tenacity.RetryCallState) -> typing.NoReturn:
    raise exception.Unavailable()


# Of several writers of one provider all but one meet a conflict.
until_newest = tenacity.retry(
    retry=tenacity.retry_if_exception_type(Outdated),
    wait=tenacity.wait_random(0, 0.2), stop=tenacity.stop_after_attempt(20),
    retry_error_callback=_give_up)


def consumers(
    context: nova_context.RequestContext, provider_uuid: str,
) -> list[str]:
    """Return the uuids of the consumers with allocations on a host.

    :raises: `exception.Unavailable` when Placement does not answer
    """
    return list(_get(context, f'/resource_providers/{provider_uuid}'
                              '/allocations')['allocations'])


def allocations(
    context: nova_context.RequestContext, consumer: str,
) -> tuple[dict, float]:
    """Return the allocations of a consumer, for `set_allocations`.

    :returns: the allocations with the generation of the consumer, and when
        Placement has last written an allocation, in seconds since the epoch
    :raises: `exception.Unavailable` when Placement does not answer
    """
    url = f'/allocations/{consumer}'
    response = _ask(context, url, _CONSUMER_GENERATIONS)
    body = _read(url, response)
    written = email_utils.parsedate_to_datetime(
        response.headers['last-modified'])
    return body, written.timestamp()


def set_allocations(
    context: nova_context.RequestContext, consumer: str, body: dict,
) -> bool:
    """Replace the allocations of a consumer, unless they have changed.

    :returns: False when another writer has changed the allocations since
        `allocations`, or when Placement itself asks for a repetition
    :raises: `exception.Unavailable` when Placement does not answer
    """
    return _put(
        context, f'/allocations/{consumer}', body, _CONSUMER_GENERATIONS)


def tree(
    context: nova_context.RequestContext, provider_uuid: str,
) -> frozenset[str]:
    """Return the uuids of a host's providers, the children's too.

    :raises: `exception.Unavailable` when Placement does not answer
    """
    body = _get(context, f'/resource_providers?in_tree={provider_uuid}',
                version=_PROVIDER_TREES)
    return frozenset(entry['uuid'] for entry in body['resource_providers'])


def providers(
    context: nova_context.RequestContext, consumer: str,
) -> list[str]:
    """Return the uuids of the resource providers that a consumer uses.

    :param consumer: the uuid of a server
    :raises: `exception.Unavailable` when Placement does not answer
    """
    return list(_get(context, f'/allocations/{consumer}')['allocations'])


def root(context: nova_context.RequestContext, provider_uuid: str) -> str:
    """Return the uuid of the compute node that a resource provider is of.

    :raises: `exception.Unavailable` when Placement does not answer, or has no
        such provider
    """
    return _get(context, f'/resource_providers/{provider_uuid}',
                version=_ROOTS)['root_provider_uuid']


def traits(
    context: nova_context.RequestContext, provider_uuid: str,
) -> frozenset[str]:
    """Return the traits of a host's own resource provider.

    :raises: `exception.Unavailable` when Placement does not answer
    """
    return frozenset(_get(
        context, f'/resource_providers/{provider_uuid}/traits',
        version=_TRAITS)['traits'])


def members(
    context: nova_context.RequestContext, *aggregate_uuids: str,
) -> dict[str, str]:
    """Return the resource providers that Placement has in aggregates.

    :param aggregate_uuids: a provider is in at least one of the aggregates
    :returns: ``provider uuid -> provider name``
    :raises: `exception.Unavailable` when Placement does not answer
    """
    body = _get(context, '/resource_providers?member_of=in:'
                         f'{",".join(aggregate_uuids)}', version='1.3')
    return {entry['uuid']: entry['name']
            for entry in body['resource_providers']}


def provider(
    context: nova_context.RequestContext, node: str,
) -> str | None:
    """Return the uuid of the resource provider of a node, or None.

    :param node: the hypervisor hostname
    :raises: `exception.Unavailable` when Placement does not answer
    """
    query = urllib.parse.urlencode({'name': node})
    body = _get(context, f'/resource_providers?{query}')
    return next((entry['uuid'] for entry in body['resource_providers']), None)


def candidates(
    context: nova_context.RequestContext, query: str,
) -> dict[str, capacity.Host]:
    """Return the free resources of the hosts that may match a request.

    :param query: the query of ``GET /allocation_candidates``
    :returns: ``uuid of the root provider -> host``; the root provider is the
        compute node
    :raises: `exception.Unavailable` when Placement does not answer
    """
    summaries = _get(context, f'/allocation_candidates?{query}',
                     version=_TREES)['provider_summaries']
    return {root: _host(its) for root, its in _trees(summaries).items()}


def holdings(
    context: nova_context.RequestContext, query: Iterable[tuple[str, str]],
) -> dict[str, host_resources.Resources]:
    """Return all resources of the hosts that may match a request.

    The total of a class is what servers can have of it, allocation ratios
    counted. What a provider shares with several hosts is left out.

    :param query: the query of ``GET /allocation_candidates``
    :returns: ``uuid of the compute node -> resources``; of no host where
        Placement does not know a resource class of the query
    :raises: `exception.PlacementSilent` when Placement does not answer
    """
    url = '/allocation_candidates?' + urllib.parse.urlencode(
        list(query), safe=':,')
    response = _ask(context, url, _TREES)
    if response.status_code == _UNKNOWN:
        return {}
    return {root: _holding(its.values()) for root, its
            in _trees(_read(url, response)['provider_summaries']).items()}


def holding(
    context: nova_context.RequestContext, provider_uuid: str,
) -> host_resources.Resources | None:
    """Return all resources of one host, as `holdings`.

    One call, and three calls for each resource provider of the host.

    :returns: None when Placement has no such provider
    :raises: `exception.PlacementSilent` when Placement does not answer
    """
    providers = tree(context, provider_uuid)
    if not providers:
        return None
    return _holding(_summary(context, uuid) for uuid in sorted(providers))


def _summary(context: nova_context.RequestContext, provider: str) -> dict:
    """Return a provider as Placement has it beside candidates.

    A provider that is gone meanwhile has nothing.
    """
    found = {what: (_get_if_there(
        context, f'/resource_providers/{provider}/{what}', _TRAITS) or {}
    ).get(what, {}) for what in ('inventories', 'usages', 'traits')}
    return {'traits': found['traits'], 'resources': {
        name: {'capacity': int((its['total'] - its['reserved']) *
                               its['allocation_ratio']),
               'used': found['usages'].get(name, 0)}
        for name, its in found['inventories'].items()}}


def _holding(providers: Iterable[dict]) -> host_resources.Resources:
    """Return the sums of the summaries of a host's providers."""
    total: dict[str, int] = collections.Counter()
    used: dict[str, int] = collections.Counter()
    its_traits: set[str] = set()
    for summary in providers:
        its_traits.update(summary['traits'])
        for name, amount in summary['resources'].items():
            total[name] += amount['capacity']
            used[name] += amount['used']
    return host_resources.Resources(
        dict(total), dict(used), host_resources.lasting(its_traits))


def _trees(summaries: Mapping[str, dict]) -> dict[str, dict[str, dict]]:
    """Return ``uuid of the root -> uuid of a provider -> summary``."""
    trees: dict[str, dict[str, dict]] = collections.defaultdict(dict)
    for uuid, summary in summaries.items():
        trees[summary['root_provider_uuid']][uuid] = summary
    return trees


def givers(
    context: nova_context.RequestContext, query: str,
) -> dict[tuple[str, str], frozenset[str]]:
    """Return which resource providers may give what a query asks for.

    :param query: the query of ``GET /allocation_candidates``
    :returns: ``(suffix of the group, resource class) -> provider uuids``; the
        suffix of resources in no group is empty
    :raises: `exception.Unavailable` when Placement does not answer
    """
    found: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
    for request in _get(context, f'/allocation_candidates?{query}',
                        version=_MAPPINGS)['allocation_requests']:
        for suffix, uuids in request['mappings'].items():
            for uuid in uuids:
                for name in request['allocations'][uuid]['resources']:
                    found[suffix, name].add(uuid)
    return {pair: frozenset(uuids) for pair, uuids in found.items()}


def offered(
    context: nova_context.RequestContext, wanted: utils.ResourceRequest,
) -> tuple[list[dict], dict[str, dict]] | None:
    """Return what Placement offers Nova's scheduler for a request.

    :returns: allocation requests, and ``provider uuid -> provider summary``;
        None when Placement does not answer
    """
    requests, summaries, _ = (
        report.report_client_singleton().get_allocation_candidates(
            context, wanted) or (None, None, None))
    return None if requests is None or summaries is None else (
        requests, summaries)


def _host(tree: Mapping[str, dict]) -> capacity.Host:
    free: dict[str, tuple[int, ...]] = collections.defaultdict(tuple)
    traits: set[str] = set()
    providers = []
    for uuid, summary in tree.items():
        traits.update(summary['traits'])
        its = {name: amount['capacity'] - amount['used']
               for name, amount in summary['resources'].items()}
        providers.append(capacity.Provider(uuid, its))
        for name, amount in its.items():
            free[name] += (amount,)
    return capacity.Host(free, frozenset(traits), tuple(providers))


def read(
    context: nova_context.RequestContext, provider_uuid: str,
) -> dict | None:
    """Return a host's inventories with the generation, for `write`.

    :returns: None when Placement has no such provider
    :raises: `exception.Unavailable` when Placement does not answer
    """
    return _get_if_there(context, _url(provider_uuid))


def write(
    context: nova_context.RequestContext, provider_uuid: str,
    inventories: dict,
) -> bool:
    """Replace a host's inventories, unless the generation has changed.

    Equal inventories count as a change too.

    :returns: False when another writer, such as the compute service, has
        changed the provider since `read`, or when Placement itself asks for a
        repetition
    :raises: `exception.Unavailable` when Placement does not answer
    """
    return _put(context, _url(provider_uuid), inventories, _NO_CAPACITY)


def aggregates(
    context: nova_context.RequestContext, provider_uuid: str,
) -> dict | None:
    """Return a host's aggregates with the generation, for `set_aggregates`.

    :returns: None when Placement has no such provider
    :raises: `exception.Unavailable` when Placement does not answer
    """
    return _get_if_there(
        context, _aggregates_url(provider_uuid), _GENERATIONS)


def set_aggregates(
    context: nova_context.RequestContext, provider_uuid: str, body: dict,
) -> bool:
    """Replace a host's aggregates, unless the generation has changed.

    Equal aggregates count as a change too.

    :returns: False when another writer has changed the provider since the
        read, or when Placement itself asks for a repetition
    :raises: `exception.Unavailable` when Placement does not answer
    """
    return _put(context, _aggregates_url(provider_uuid), body, _GENERATIONS)


def _put(
    context: nova_context.RequestContext, url: str, body: dict, version: str,
) -> bool:
    try:
        response = report.report_client_singleton().put(
            url, body, version=version,
            global_request_id=context.global_id)
    except ks_exc.ClientException as error:
        raise exception.PlacementSilent() from error
    if response.status_code in _ONCE_MORE:
        return False
    if not response:
        _log(url, response)
        raise exception.PlacementSilent()
    return True


def _aggregates_url(provider_uuid: str) -> str:
    return f'/resource_providers/{provider_uuid}/aggregates'


def _url(provider_uuid: str) -> str:
    return f'/resource_providers/{provider_uuid}/inventories'


def _get(
    context: nova_context.RequestContext, url: str,
    version: str | None = None,
) -> dict:
    return _read(url, _ask(context, url, version))


def _get_if_there(
    context: nova_context.RequestContext, url: str,
    version: str | None = None,
) -> dict | None:
    response = _ask(context, url, version)
    if response.status_code == _MISSING:
        return None
    return _read(url, response)


def _read(url: str, response: typing.Any) -> dict:
    if not response:
        _log(url, response)
        raise exception.PlacementSilent()
    return response.json()


def _ask(
    context: nova_context.RequestContext, url: str, version: str | None,
) -> typing.Any:
    try:
        return report.report_client_singleton().get(
            url, version, global_request_id=context.global_id)
    except ks_exc.ClientException as error:
        raise exception.PlacementSilent() from error


def _log(url: str, response: typing.Any) -> None:
    LOG.error('Placement answered %(status)d to %(url)s: %(text)s',
              {'status': response.status_code, 'url': url,
               'text': response.text})
