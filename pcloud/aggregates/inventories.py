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

"""Read and change what Placement holds of a host.

Names of HTTP calls are those of the Placement API reference.
"""

import urllib.parse

from keystoneauth1 import exceptions as ks_exc
from nova import context as nova_context
from nova.scheduler.client import report
from oslo_log import log as logging
import tenacity

from pcloud import exception

LOG = logging.getLogger(__name__)

_CONFLICT = 409


class _GenerationConflict(Exception):
    """The host's own report came in between reading and writing."""


def consumers(
    context: nova_context.RequestContext, provider_uuid: str,
) -> int:
    """Return how many consumers have allocations on a host.

    :raises: `exception.Unavailable` when Placement does not tell
    """
    return len(_get(context, f'/resource_providers/{provider_uuid}'
                             '/allocations')['allocations'])


def members(
    context: nova_context.RequestContext, aggregate_uuid: str,
) -> frozenset[str]:
    """Return the uuids of the providers that Placement has in an aggregate.

    :raises: `exception.Unavailable` when Placement does not tell
    """
    found = _get(context, f'/resource_providers?member_of={aggregate_uuid}',
                 version='1.3')
    return frozenset(each['uuid'] for each in found['resource_providers'])


def provider(
    context: nova_context.RequestContext, node: str,
) -> str | None:
    """Return the uuid of the provider of a hypervisor hostname, if any.

    :raises: `exception.Unavailable` when Placement does not tell
    """
    query = urllib.parse.urlencode({'name': node})
    found = _get(context, f'/resource_providers?{query}')
    return next((each['uuid'] for each in found['resource_providers']), None)


def ratio(
    context: nova_context.RequestContext, provider_uuid: str,
    resource_class: str,
) -> float:
    """Return the allocation ratio of a host's inventory.

    :param resource_class: 'VCPU' or 'MEMORY_MB'
    :raises: `exception.Unavailable` when Placement does not tell
    """
    return _get(context, _url(provider_uuid, resource_class)
                )['allocation_ratio']


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(_GenerationConflict),
    wait=tenacity.wait_random(0, 0.2), stop=tenacity.stop_after_attempt(10),
    retry_error_callback=lambda state: _give_up())
def set_ratio(
    context: nova_context.RequestContext, provider_uuid: str,
    resource_class: str, value: float,
) -> None:
    """Set the allocation ratio of a host's inventory.

    The compute service writes inventories too; when it does so between our
    reading and our writing, both are done again.

    :param resource_class: 'VCPU' or 'MEMORY_MB'
    :raises: `exception.Unavailable` when Placement cannot be told
    """
    url = _url(provider_uuid, resource_class)
    inventory = _get(context, url)
    if inventory['allocation_ratio'] == value:
        return
    inventory['allocation_ratio'] = value
    try:
        response = report.report_client_singleton().put(
            url, inventory, global_request_id=context.global_id)
    except ks_exc.ClientException as error:
        raise exception.Unavailable() from error
    if response.status_code == _CONFLICT:
        raise _GenerationConflict()
    if not response:
        _log(url, response)
        raise exception.Unavailable()


def _give_up():
    raise exception.Unavailable()


def _url(provider_uuid: str, resource_class: str) -> str:
    return f'/resource_providers/{provider_uuid}/inventories/{resource_class}'


def _get(
    context: nova_context.RequestContext, url: str,
    version: str | None = None,
) -> dict:
    try:
        response = report.report_client_singleton().get(
            url, version, global_request_id=context.global_id)
    except ks_exc.ClientException as error:
        raise exception.Unavailable() from error
    if not response:
        _log(url, response)
        raise exception.Unavailable()
    return response.json()


def _log(url: str, response) -> None:
    LOG.error('Placement answered %(status)d to %(url)s: %(text)s',
              {'status': response.status_code, 'url': url,
               'text': response.text})
