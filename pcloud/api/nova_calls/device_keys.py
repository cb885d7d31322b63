# SPDX-License-Identifier: Apache-2.0

"""Placement keys of the volume, the network and the port of a new server.

Cinder and Neutron are asked for nothing that ``[pcloud] placement_key_levels``
does not list, with one call each.

Rule: reference-placement-keys-devices
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from cinderclient import exceptions as cinder_exc
from keystoneauth1 import exceptions as ks_exc
from neutronclient.common import exceptions as neutron_exc
from nova import context as nova_context
from nova import exception as nova_exception
from nova.network import neutron
from nova.volume import cinder
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import uuidutils

from pcloud.api.nova_calls import images
from pcloud import exception
from pcloud.objects.placing import affinity_keys
from pcloud.rules.placing import affinity

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

VOLUME_TYPE, NETWORK, PORT = 'volume_type', 'network', 'port'

_UNKNOWN = nova_exception.NotFound, neutron_exc.NotFound
_FAILURES = (
    nova_exception.NovaException, ks_exc.ClientException,
    cinder_exc.ClientException, cinder_exc.ConnectionError,
    neutron_exc.NeutronClientException)
_FIELDS = 'id', 'project_id', 'tenant_id', 'shared', 'admin_state_up', 'tags'


@dataclasses.dataclass(frozen=True)
class Level:
    """The placement keys of a level below the server.

    :ivar system: the system keys
    :ivar customer: the customer keys
    """

    system: Sequence[affinity.Key] = ()
    customer: Sequence[affinity.Key] = ()


def levels(
    context: nova_context.RequestContext, server: Mapping,
    source: images.Source,
) -> list[Level]:
    """Return the keys of each level below the server, from the highest.

    The metadata of the volume were read with the volume. A volume type, a
    network or a port that is unknown has no keys, and is refused by Nova.

    :param server: the server in the body of a request to create the server
    :param source: what the server boots from
    :raises: `exception.DeviceKeysUnknown` when Cinder or Neutron does not
        answer
    """
    # Whoever may write into a volume is a user: the volume has no system keys.
    volume = Level(customer=affinity_keys.customer(
        source.volume, affinity_keys.IMAGE_CUSTOMER_PREFIX))
    asked = CONF.pcloud.placement_key_levels
    found = [volume]
    if VOLUME_TYPE in asked and source.volume_type is not None:
        found.insert(0, _of_volume_type(source.volume_type))
    if NETWORK in asked or PORT in asked:
        found += _of_network(context, server, asked)
    return found


def _of_volume_type(wanted: str) -> Level:
    """Return the keys of a volume type.

    Cinder shows the extra specs of a type to administrators alone.

    :param wanted: name or id; '' for the default type
    """
    try:
        types = cinder.cinderclient(
            nova_context.get_admin_context()).volume_types
        known = types.list() if wanted else [types.default()]
    except cinder_exc.NotFound:
        return Level()
    except _FAILURES as error:
        raise _unknown('volume type', 'Cinder', error) from error
    specs = next((getattr(each, 'extra_specs', None) or {} for each in known
                  if wanted in ('', each.name, each.id)), {})
    return Level(affinity_keys.system(specs), affinity_keys.customer(specs))


def _of_network(
    context: nova_context.RequestContext, server: Mapping,
    asked: Sequence[str],
) -> list[Level]:
    """Return the keys of the first network and of the first port.

    The network of a port is known once the port has been read.
    """
    try:
        client = neutron.get_client(context)
        port = _port(client, server)
        network = _network(client, context, server, port) if (
            NETWORK in asked) else {}
    except _UNKNOWN:
        return []
    except _FAILURES as error:
        raise _unknown('network', 'Neutron', error) from error
    owner = network.get('project_id') or network.get('tenant_id')
    tags = _tagged(network)
    of_network = Level(affinity_keys.system(
        tags, affinity_keys.IMAGE_SYSTEM_PREFIX) if (
            owner in CONF.pcloud.system_key_network_projects) else (),
        affinity_keys.customer(tags, affinity_keys.IMAGE_CUSTOMER_PREFIX))
    # A port is of the project of its server: the port has no system keys.
    of_port = Level(customer=affinity_keys.customer(
        _tagged(port) if PORT in asked else {},
        affinity_keys.IMAGE_CUSTOMER_PREFIX))
    return [of_network, of_port]


def _first(server: Mapping) -> Mapping:
    """Return the first network that a request names, {} if none."""
    networks = server.get('networks')
    if isinstance(networks, list) and networks and (
            isinstance(networks[0], dict)):
        return networks[0]
    return {}


def _port(client: neutron.ClientWrapper, server: Mapping) -> Mapping:
    port_id = _first(server).get('port')
    return client.show_port(port_id)['port'] if (
        uuidutils.is_uuid_like(port_id)) else {}


def _network(
    client: neutron.ClientWrapper, context: nova_context.RequestContext,
    server: Mapping, port: Mapping,
) -> Mapping:
    """Return the network of a port, the first one named, or the only one.

    Nova refuses a request that names no network where there are several.
    """
    named = port.get('network_id') or _first(server).get('uuid')
    if named is not None:
        return client.show_network(named)['network'] if (
            uuidutils.is_uuid_like(named)) else {}
    networks = server.get('networks')
    if networks not in (None, [], 'auto'):
        return {}
    # As Nova chooses: the networks of the project, and those of everybody.
    usable = [each for each in client.list_networks(
        fields=list(_FIELDS))['networks']
        if each.get('shared') or context.project_id in (
            each.get('project_id'), each.get('tenant_id'))]
    if networks == 'auto':
        usable = [each for each in usable
                  if each.get('shared') or each.get('admin_state_up')]
    return usable[0] if len(usable) == 1 else {}


def _tagged(resource: Mapping) -> dict[str, str]:
    """Return the tags ``<name>=<value>`` of a resource of Neutron.

    Of several tags of one name the first in alphabetical order counts.
    """
    tags: Iterable[str] = resource.get('tags') or ()
    pairs = (tag.partition('=') for tag in sorted(tags, reverse=True))
    return {name: value for name, equals, value in pairs if equals}


def _unknown(
    what: str, service: str, error: Exception,
) -> exception.DeviceKeysUnknown:
    LOG.warning('Placement keys of a %(what)s cannot be read: %(error)s',
                {'what': what, 'error': error})
    return exception.DeviceKeysUnknown(what=what, service=service)
