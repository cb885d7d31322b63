# SPDX-License-Identifier: Apache-2.0

"""Names of Pcloud's aggregates, and keys of the aggregates' metadata.

Rule: reference-metadata
"""

from collections.abc import Mapping
import functools
import re

from pcloud import exception
from pcloud.rules import forms

PREFIX = 'Pcloud:'
POOL_PREFIX = 'Pcloud:host_flavor:'
# The aggregate of the hosts of all pools and Pclouds, which Placement alone
# has.
CLOSED_UUID = 'ee1f41e8-44f9-5ad9-b396-2d8e5931e836'
# Aggregates with settings or attributes, which close no hosts.
POLICY_PREFIX = 'Pcloud:policy:'
ATTRIBUTE_PREFIX = 'Pcloud:attribute:'
OPEN_PREFIXES = (ATTRIBUTE_PREFIX, POLICY_PREFIX)

TYPE = 'pcloud:type'
TYPE_POOL = 'host_flavor_pool'
TYPE_PCLOUD = 'pcloud'
TYPE_POLICY = 'policy'
TYPE_ATTRIBUTE = 'host_attribute'
TYPE_JOURNAL = 'journal'

FLAVOR_ID = 'pcloud:flavor_id'
DESCRIPTION = 'pcloud:description'
UNITS = 'pcloud:units'
PRICE = 'pcloud:price'

ID = 'pcloud:id'
NAME = 'pcloud:name'
OWNER = 'pcloud:owner'
MAINTENANCE_POLICY = 'pcloud:maintenance_policy'
HOST_RECOVERY = 'pcloud:host_recovery'
PIN_BY_TENANTS = 'pcloud:pin_by_tenants'
FILLING = 'pcloud:placement'
SHRINK = 'pcloud:shrink'
# The flavors and images that a Pcloud takes, in parts with numbers.
FLAVORS_PREFIX = 'pcloud:flavors:'
IMAGES_PREFIX = 'pcloud:images:'
# How much of the Pcloud a tenant may use.
CAPS_PREFIX = 'pcloud:caps:'
HOST_PREFIX = 'pcloud:host:'
STATE_PREFIX = 'pcloud:host_state:'
DRAIN_PREFIX = 'pcloud:drain:'
# What the Pcloud has done for a maintenance of a host.
REACTION_PREFIX = 'pcloud:maintained:'
# Which host another host stands in for during a maintenance.
REPLACES_PREFIX = 'pcloud:replaces:'
# That the owner keeps a host for the time when another host is away.
SPARE_PREFIX = 'pcloud:spare:'
# When a host is to leave its Pcloud.
UNTIL_PREFIX = 'pcloud:until:'
# Since when a worker has seen nobody on a host, in a Pcloud that shrinks.
IDLE_PREFIX = 'pcloud:idle:'
# What the Pcloud does for a host that has failed.
RECOVERY_PREFIX = 'pcloud:recovery:'
NODE_PREFIX = 'pcloud:node:'
OWN_PREFIX = 'pcloud:own_ratios:'
# Where a server is to be moved so that hosts get empty, or others fit.
REBALANCE_PREFIX = 'pcloud:rebalance:'
# Why the latest such rebalance has ended before its end.
REBALANCE_STOPPED = 'pcloud:stopped:rebalance'
# Which launch may let a Pcloud grow now.
GROWTH_TURN = 'pcloud:growth:turn'
# The beginning of the owner's names for hosts that launches add.
GROWN = 'grown-'
# What the metadata of a Pcloud have of each host of the Pcloud.
OF_HOSTS = (HOST_PREFIX, STATE_PREFIX)
TENANT_PREFIX = 'pcloud:'
TENANT_VALUE = 'pcloud-tenant'

# The journal: an aggregate without hosts, with the marks of changes and with
# what is kept of hosts. The name of the journal is no Pcloud's.
JOURNAL = 'pcloud-journal'
CHANGES_PREFIX = 'pcloud:changes:'
DUE_PREFIX = 'pcloud:due:'
# A host that its Pcloud has never opened, and who has let a settling host go.
UNOPENED_PREFIX = 'pcloud:unopened:'
RELEASED_PREFIX = 'pcloud:released:'
MAINTENANCE_PREFIX = 'pcloud:maintenance:'
# When the recovery of a host has begun, whatever became of the host.
RECOVERED_PREFIX = 'pcloud:recovered:'
# In the journal: since when a host is held, what hosts of a host flavor cost,
# and what those have come to that are not held any more.
SPAN_PREFIX = 'pcloud:span:'
RATE_PREFIX = 'pcloud:rate:'
SUM_PREFIX = 'pcloud:sum:'
# In the journal: which worker does what is due for the hosts of a Pcloud now.
MOVING_PREFIX = 'pcloud:moving:'
# In the journal: which scheduler chooses for a strict wish of a project now.
STRICT_PREFIX = 'pcloud:strict:'
# In the journal: who waits for a host of a host flavor.
WAITING_PREFIX = 'pcloud:waiting:'
WORKER = 'pcloud:worker'
# What the journal keeps of each host that is in a Pcloud.
KEPT_OF_HOSTS = (NODE_PREFIX, OWN_PREFIX, DRAIN_PREFIX, REACTION_PREFIX,
                 REPLACES_PREFIX, SPARE_PREFIX, IDLE_PREFIX, RECOVERY_PREFIX,
                 UNTIL_PREFIX)
# The keys of the journal, on whatever aggregate the hosts are. Nova joins the
# hosts of an aggregate with its metadata, and sends both to each scheduler.
_OF_JOURNAL = (
    *KEPT_OF_HOSTS, CHANGES_PREFIX, DUE_PREFIX, UNOPENED_PREFIX,
    RELEASED_PREFIX, MAINTENANCE_PREFIX, RECOVERED_PREFIX, REBALANCE_PREFIX,
    MOVING_PREFIX, STRICT_PREFIX, SPAN_PREFIX, RATE_PREFIX, SUM_PREFIX,
    WAITING_PREFIX)

SCOPE = 'pcloud:scope'
SCOPE_ID = 'pcloud:scope_id'
QUOTA_UNITS = 'pcloud:quota:units'
SHARE_PREFIX = 'pcloud:share:'
SHARE = SHARE_PREFIX + 'waiting'

# On policies, and in the extra specs of flavors.
SYSTEM_KEY_PREFIX = 'pcloud:system_key:'
CUSTOMER_KEY_PREFIX = 'pcloud:customer_key:'
# On policies.
CONSTRAINT_PREFIX = 'pcloud:constraint:'
DEFAULT_PREFIX = 'pcloud:default:'
# On any aggregate: a key of its hosts, and the weight that makes it sticky.
NODE_KEY_PREFIX = 'pcloud:key:'
STICKY_PREFIX = 'pcloud:sticky:'

# On the aggregates of attributes, and on any other.
ATTRIBUTE_KEY_PREFIX = 'pcloud:attr:'
ATTRIBUTE_NAME_PATTERN = re.compile(forms.ATTRIBUTE_NAME)

CPU_RATIO = 'cpu_allocation_ratio'
RAM_RATIO = 'ram_allocation_ratio'

# A tenant's key is the bare prefix and the project id: a project with a
# reserved id would overwrite a key with another meaning.
_RESERVED = frozenset(
    key.removeprefix(TENANT_PREFIX)
    for key in (TYPE, FLAVOR_ID, DESCRIPTION, UNITS, PRICE, ID, NAME, OWNER,
                MAINTENANCE_POLICY, HOST_RECOVERY, PIN_BY_TENANTS, FILLING,
                SHRINK, SCOPE, SCOPE_ID))


def pool(flavor_id: str) -> str:
    """Return the name of a host flavor's aggregate."""
    return POOL_PREFIX + flavor_id


def pcloud(pcloud_id: str) -> str:
    """Return the name of a Pcloud's aggregate."""
    return PREFIX + pcloud_id


def host_key(name: str) -> str:
    """Return the metadata key for the host with an owner's host name."""
    return HOST_PREFIX + name


def state_key(node: str) -> str:
    """Return the metadata key of a host's state.

    :param node: the hypervisor hostname
    :raises: `exception.NameTooLong` when Nova could not hold the key
    """
    return _checked(STATE_PREFIX + node, 'Hypervisor hostname', node)


def is_of_journal(key: str) -> bool:
    """Whether a metadata key is one of the journal's, also of a host's."""
    return key.startswith(_OF_JOURNAL)


def is_for_schedulers(metadata: Mapping[str, str]) -> bool:
    """Whether schedulers need what the metadata of an aggregate say of hosts.

    That is host attributes, placement keys, and whatever is not Pcloud's, such
    as the multipliers of weighers. All else the filters read from the rows.

    Rule: reference-changes-told
    """
    return any(
        key.startswith((ATTRIBUTE_KEY_PREFIX, NODE_KEY_PREFIX, STICKY_PREFIX))
        or not key.startswith(TENANT_PREFIX) and key not in (
            CPU_RATIO, RAM_RATIO) for key in metadata)


def kept_keys(host: str) -> list[str]:
    """Return the journal's keys that end with the membership of a host.

    :param host: the service host, which is or was in a Pcloud
    """
    return [prefix + host for prefix in KEPT_OF_HOSTS]


def _of_host(prefix: str, host: str) -> str:
    """Return the key of a host in the journal.

    :param host: the service host, which has to fit `maintenance_key`
    """
    return prefix + host


# What the journal keeps of a service host, see the prefixes.
drain_key = functools.partial(_of_host, DRAIN_PREFIX)
reaction_key = functools.partial(_of_host, REACTION_PREFIX)
replaces_key = functools.partial(_of_host, REPLACES_PREFIX)
spare_key = functools.partial(_of_host, SPARE_PREFIX)
until_key = functools.partial(_of_host, UNTIL_PREFIX)
idle_key = functools.partial(_of_host, IDLE_PREFIX)
recovery_key = functools.partial(_of_host, RECOVERY_PREFIX)
recovered_key = functools.partial(_of_host, RECOVERED_PREFIX)
node_key = functools.partial(_of_host, NODE_PREFIX)
unopened_key = functools.partial(_of_host, UNOPENED_PREFIX)
released_key = functools.partial(_of_host, RELEASED_PREFIX)
span_key = functools.partial(_of_host, SPAN_PREFIX)
own_ratios_key = functools.partial(_of_host, OWN_PREFIX)


def due_key(host: str) -> str:
    """Return the journal's key of what is still due for a service host.

    :raises: `exception.NameTooLong` when Nova could not hold the key
    """
    return _checked(DUE_PREFIX + host, 'Service host', host)


def maintenance_key(host: str) -> str:
    """Return the journal's key of the maintenance of a service host.

    It is the longest key of a host.

    :raises: `exception.NameTooLong` when Nova could not hold the key
    """
    return _checked(MAINTENANCE_PREFIX + host, 'Service host', host)


def moving_key(pcloud_id: str) -> str:
    """Return the journal's key of the turn of a worker at a Pcloud."""
    return MOVING_PREFIX + pcloud_id


def strict_key(project_id: str) -> str:
    """Return the journal's key of the turn of a project's strict wishes.

    :raises: `exception.NameTooLong` when Nova could not hold the key
    """
    return _checked(STRICT_PREFIX + project_id, 'Project id', project_id)


def rates_prefix(flavor_id: str) -> str:
    """Return the beginning of the journal's keys of a host flavor's rates."""
    return f'{RATE_PREFIX}{flavor_id}:'


def sums_prefix(project_id: str, flavor_id: str = '') -> str:
    """Return the beginning of the journal's keys of what hosts came to.

    A month or a day follows the host flavor.

    :param flavor_id: '' for all host flavors of the project
    """
    prefix = f'{SUM_PREFIX}{project_id}:'
    return f'{prefix}{flavor_id}:' if flavor_id else prefix


def waiting_key(flavor_id: str, entry_id: str) -> str:
    """Return the journal's key of an entry of a waiting list."""
    return f'{WAITING_PREFIX}{flavor_id}:{entry_id}'


def rebalance_prefix(pcloud_id: str) -> str:
    """Return the beginning of the journal's keys of a Pcloud's rebalance."""
    return f'{REBALANCE_PREFIX}{pcloud_id}:'


def rebalance_key(pcloud_id: str, server: str) -> str:
    """Return the journal's key of where a server is to be moved.

    :param server: the uuid
    """
    return rebalance_prefix(pcloud_id) + server


def policy(scope: str, scope_id: str) -> str:
    """Return the name of the aggregate with the settings of a scope.

    :raises: `exception.NameTooLong` when Nova could not hold the name
    """
    return _checked(f'{POLICY_PREFIX}{scope}:{scope_id}', 'Scope id',
                    scope_id)


def project_policy(project_id: str) -> str:
    """Return the name of the aggregate with a project's own settings.

    :raises: `exception.NameTooLong` when Nova could not hold the name
    """
    return policy('project', project_id)


def placement_key(prefix: str, name: str) -> str:
    """Return the metadata key of a placement key; Nova refuses "#" in keys."""
    return prefix + name.replace('#', 'special.')


def attribute_key(name: str) -> str:
    """Return the metadata key of a host attribute.

    :raises: `exception.InvalidValue` when Nova would not let an
        administrator write the key by hand too
    """
    if not ATTRIBUTE_NAME_PATTERN.fullmatch(name):
        raise exception.InvalidValue(
            'Host attribute name', name,
            '1 to 64 letters, digits, ".", "_", "-" or blanks')
    return ATTRIBUTE_KEY_PREFIX + name


def attribute(name: str, value: str) -> str:
    """Return the name of the aggregate of a host attribute's value.

    :raises: `exception.InvalidValue`, `exception.NameTooLong` when
        Nova could not hold the name
    """
    attribute_key(name)
    return _checked(f'{ATTRIBUTE_PREFIX}{name}={value}', 'Host attribute',
                    f'{name}={value}')


def attributes(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the host attributes in metadata: ``name -> value``."""
    return stripped(metadata, ATTRIBUTE_KEY_PREFIX)


def is_attribute(metadata: Mapping[str, str]) -> bool:
    """Whether an aggregate is there for an attribute and nothing else."""
    return metadata.get(TYPE) == TYPE_ATTRIBUTE


def tenant_key(project_id: str) -> str:
    """Return the metadata key that makes a project a tenant.

    :raises: `exception.InvalidValue` when the key would mean something
        else (compared without case, as MariaDB compares keys),
        `exception.NameTooLong` when Nova could not hold it
    """
    if ':' in project_id or project_id.casefold() in _RESERVED:
        raise exception.InvalidValue(
            'Tenant', project_id,
            'the id of a project, without a colon, and none of the words that '
            'Pcloud keeps for itself')
    return _checked(TENANT_PREFIX + project_id, 'Project id', project_id)


def caps_key(project_id: str) -> str:
    """Return the metadata key of how much of a Pcloud a tenant may use.

    :raises: `exception.NameTooLong` when Nova could not hold the key
    """
    return _checked(CAPS_PREFIX + project_id, 'Project id', project_id)


def caps(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return how much tenants may use: ``project id -> value``."""
    return stripped(metadata, CAPS_PREFIX)


def tenants(metadata: Mapping[str, str]) -> frozenset[str]:
    """Return the ids of the projects that the metadata make tenants."""
    return frozenset([
        key[len(TENANT_PREFIX):] for key, value in metadata.items()
        if value == TENANT_VALUE and key.startswith(TENANT_PREFIX) and
        ':' not in key[len(TENANT_PREFIX):]]) - _RESERVED


def states(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the states in metadata: ``hypervisor hostname -> state``."""
    return stripped(metadata, STATE_PREFIX)


def drains(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the drains in metadata: ``service host -> value``."""
    return stripped(metadata, DRAIN_PREFIX)


def maintenances(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the maintenances in metadata: ``service host -> value``."""
    return stripped(metadata, MAINTENANCE_PREFIX)


def reactions(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the reactions in metadata: ``service host -> value``."""
    return stripped(metadata, REACTION_PREFIX)


def replaced(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the hosts that stand in: ``service host -> value``."""
    return stripped(metadata, REPLACES_PREFIX)


def spares(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the spares in metadata: ``service host -> value``."""
    return stripped(metadata, SPARE_PREFIX)


def idle(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the hosts seen empty in metadata: ``service host -> value``."""
    return stripped(metadata, IDLE_PREFIX)


def recoveries(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the recoveries in metadata: ``service host -> value``."""
    return stripped(metadata, RECOVERY_PREFIX)


def rebalance(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the servers to be moved: ``server uuid -> value``.

    :param metadata: with the rows of one Pcloud alone
    """
    return {key.rpartition(':')[2]: value for key, value
            in stripped(metadata, REBALANCE_PREFIX).items()}


def nodes(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the nodes: ``service host -> hypervisor hostname``."""
    return stripped(metadata, NODE_PREFIX)


def hosts(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the hosts: ``owner's host name -> hypervisor hostname``."""
    return stripped(metadata, HOST_PREFIX)


def stripped(metadata: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the entries whose keys have a prefix, without the prefix."""
    return {key.removeprefix(prefix): value
            for key, value in metadata.items() if key.startswith(prefix)}


def _checked(key: str, what: str, value: str) -> str:
    if len(key) > forms.LIMIT:
        raise exception.NameTooLong(
            what=what, value=value, length=len(key), limit=forms.LIMIT)
    return key
