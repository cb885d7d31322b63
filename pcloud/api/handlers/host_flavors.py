# SPDX-License-Identifier: Apache-2.0

"""``/os-host-flavors``."""

from oslo_config import cfg

from pcloud.api import call as api_call
from pcloud.api.policies import host_flavors as policies
from pcloud.api.views import host_flavors as views
from pcloud import exception
from pcloud.moving import fences
from pcloud.moving import maintenance
from pcloud.objects.changing_hands import pool_hosts
from pcloud.objects import free_hosts
from pcloud.objects import host_flavors
from pcloud.objects.placing import host_attributes
from pcloud.rules.moving import maintenance_windows

CONF = cfg.CONF


def _view(call: api_call.Call, pool: host_flavors.Pool) -> dict:
    return {'host_flavor': views.detail(pool) if call.can(policies.DETAIL)
            else views.show(pool.flavor)}


def index(call: api_call.Call) -> dict:
    """List host flavors."""
    if call.can(policies.DETAIL):
        return {'host_flavors': [
            views.detail(pool) for pool in host_flavors.pools(call.context)]}
    return {'host_flavors': [views.show(supply.flavor) for supply
                             in free_hosts.index(call.context)]}


def show(call: api_call.Call) -> dict:
    """Show a host flavor, to administrators with the hosts' attributes.

    The query asks for a page of the hosts, else all hosts are shown.
    """
    flavor_id = call.parameters['id']
    if call.can(policies.DETAIL):
        pool = _page(call, flavor_id) if call.query else (
            host_flavors.pool_of(call.context, flavor_id))
        return {'host_flavor': views.with_attributes(
            views.detail(pool), host_attributes.effective(
                call.context, [each.compute.host for each in pool.hosts]))}
    return {'host_flavor': views.show(
        free_hosts.show(call.context, flavor_id).flavor)}


def _page(call: api_call.Call, flavor_id: str) -> host_flavors.Pool:
    most = CONF.api.max_limit
    return host_flavors.page_of(
        call.context, flavor_id, call.query.get('marker', ''),
        min(int(call.query.get('limit', most)), most))


def create(call: api_call.Call) -> dict:
    """Define a host flavor."""
    pool = host_flavors.create(
        call.context, call.body['id'], call.body.get('description', ''),
        call.body['units'], call.body.get('price'))
    return _view(call, pool)


def update(call: api_call.Call) -> dict:
    """Change the description, the units or the price of a host flavor."""
    pool = host_flavors.update(
        call.context, call.parameters['id'], dict(call.body))
    return _view(call, pool)


def delete(call: api_call.Call) -> None:
    """Delete a host flavor."""
    host_flavors.delete(call.context, call.parameters['id'])


def add_host(call: api_call.Call) -> dict:
    """Put a host, or several hosts at once, into the pool of a host flavor."""
    hosts = call.body.get('hosts') or [call.body['host']]
    added = [views.host(host) for host in pool_hosts.add(
        call.context, call.parameters['id'], hosts)]
    return {'hosts': added} if 'hosts' in call.body else {'host': added[0]}


def update_host(call: api_call.Call) -> dict:
    """Announce or withdraw a maintenance of a host, or fence the host.

    :raises: `exception.PolicyForbids`, and as `maintenance_windows.read`
    """
    if 'fenced' in call.body:
        _check(call, policies.FENCE_HOST)
        return {'host': views.host(fences.put(
            call.context, call.parameters['id'], call.parameters['host'],
            call.body['fenced']))}
    _check(call, policies.MAINTAIN_HOST)
    return _maintain_host(call)


def _check(call: api_call.Call, rule: str) -> None:
    if not call.can(rule):
        raise exception.PolicyForbids(rule=rule)


def _maintain_host(call: api_call.Call) -> dict:
    """Announce or withdraw the maintenance of a host of a host flavor.

    :raises: `exception.InvalidValue`
    """
    body = call.body['maintenance']
    wish = None if body is None else maintenance_windows.read(
        body['from'], body.get('until'), body['reason'])
    return {'host': views.host(maintenance.put(
        call.context, call.parameters['id'], call.parameters['host'], wish))}


def remove_host(call: api_call.Call) -> None:
    """Take a host out of the pool of a host flavor."""
    pool_hosts.remove(
        call.context, call.parameters['id'], call.parameters['host'])
