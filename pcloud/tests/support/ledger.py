# SPDX-License-Identifier: Apache-2.0

"""The state in the databases and Placement, and the state's invariants."""

import collections

from nova import context as nova_context
from nova import objects
from nova.scheduler.client import report

from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud import names
from pcloud.rules.placing import access
from pcloud.scheduler.filters import pcloud
from pcloud.tests.support import bulk

HostState = collections.namedtuple('HostState', ['host', 'nodename'])


def dump(hosts: list[str]) -> dict:
    """Return all that a change could touch: rows, members and ratios.

    :param hosts: the hosts whose resource providers are read
    :returns: name of an aggregate -> (hosts, metadata), and host ->
        (aggregates in Placement, resource class -> allocation ratio)
    """
    client = report.report_client_singleton()
    providers = client.get('/resource_providers').json()['resource_providers']
    uuids = {each['name'].removesuffix(bulk.NODE_SUFFIX): each['uuid']
             for each in providers}
    found = {}
    for aggregate in read():
        found[aggregate.name] = (
            sorted(aggregate.hosts), dict(sorted(aggregate.metadata.items())))
    for host in hosts:
        base = f'/resource_providers/{uuids[host]}'
        inventories = client.get(f'{base}/inventories').json()['inventories']
        found[host] = (
            sorted(client.get(f'{base}/aggregates', '1.19').json()[
                'aggregates']),
            {name: each['allocation_ratio']
             for name, each in sorted(inventories.items())})
    return found


def read() -> list[rows.Aggregate]:
    """Return all pools and Pclouds."""
    return isolation.closed_aggregates(nova_context.get_admin_context())


def pclouds() -> list[rows.Aggregate]:
    """Return all whole Pclouds."""
    return [each for each in read()
            if pcloud_rows.is_whole(each.name, each.metadata)]


def kept_twice() -> list[str]:
    """Return the hosts that have a state in more than one Pcloud."""
    count: collections.Counter[str] = collections.Counter()
    for aggregate in pclouds():
        states = names.states(aggregate.metadata)
        count.update(host for host in aggregate.hosts
                     if host + bulk.NODE_SUFFIX in states)
    return [host for host, pclouds_ in count.items() if pclouds_ > 1]


def broken_promises() -> list[str]:
    """Return the broken invariants; no request must be under way."""
    wrong = []
    holders = collections.defaultdict(list)
    for aggregate in pclouds():
        members = {host + bulk.NODE_SUFFIX for host in aggregate.hosts}
        named = names.hosts(aggregate.metadata)
        if sorted(named.values()) != sorted(members):
            wrong.append(f'{aggregate.name}: {named} are not {members}')
        if set(names.states(aggregate.metadata)) != members:
            wrong.append(f'{aggregate.name}: states are not of {members}')
        if len({name.lower() for name in named}) != len(named):
            wrong.append(f'{aggregate.name}: a name twice: {named}')
        for host in aggregate.hosts:
            holders[host].append(aggregate.name)
    wrong += [f'{host} is in {held}' for host, held in holders.items()
              if len(held) > 1]
    return wrong


def passes(host: str, project_id: str, pcloud_id: str | None) -> bool:
    """Return whether the real filter passes a host for a request."""
    spec = objects.RequestSpec(
        project_id=project_id, scheduler_hints={
            'pcloud': [pcloud_id]} if pcloud_id else {})
    state = HostState(host, host + bulk.NODE_SUFFIX)
    return bool(list(pcloud.PcloudFilter().filter_all([state], spec)))


def given_to(hosts: list[str]) -> set[str]:
    """Return the hosts on which some project could start a server."""
    requests = [('stranger', None)]
    for aggregate in pclouds():
        requests += [(tenant, aggregate.metadata[names.ID])
                     for tenant in names.tenants(aggregate.metadata)]
    return {host for host in hosts for project_id, pcloud_id in requests
            if passes(host, project_id, pcloud_id)}


def state_of(pcloud_id: str, name: str) -> str | None:
    """Return the state of a Pcloud's host; None for an incomplete host."""
    aggregate = next(each for each in pclouds()
                     if each.metadata[names.ID] == pcloud_id)
    node = names.hosts(aggregate.metadata).get(name)
    member = node and node.removesuffix(
        bulk.NODE_SUFFIX) in aggregate.hosts
    state = names.states(aggregate.metadata).get(node)
    return state if member and state in access.STATES else None
