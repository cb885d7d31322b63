# SPDX-License-Identifier: Apache-2.0

"""The members that the command lines show, formatted for people."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

# Every "nova" command loads this module. The classes of the resources, and of
# the errors that the units bring along, take longer than all else.
if typing.TYPE_CHECKING:
    from pcloud.client import plan_resources
    from pcloud.client import resources

# The signs of a bar.
_WIDTH = 20


def text(value: object) -> str:
    """Format a plain value; a dash for an empty value."""
    return '-' if value is None or value == '' else str(value)


def joined(values: Sequence[str] | None) -> str:
    """Format a list on a single line."""
    return ', '.join(values) if values else '-'


def placement_keys(values: Sequence[str] | None) -> str:
    """Format placement keys, with words before those that are computed."""
    from pcloud.rules.placing import affinity
    names = [(value.partition('=')[0], value) for value in values or ()]
    return joined([
        value if affinity.in_words(name) == name else
        f'{affinity.in_words(name)}: {value}' for name, value in names])


def allowed(ids: Sequence[str] | None) -> str:
    """Format the ids that a Pcloud takes; "-" for all, "none" for none."""
    return 'none' if ids is not None and not ids else joined(ids)


def counted(values: Sequence[object] | None) -> str:
    """Format the length of a list."""
    return '-' if values is None else str(len(values))


def ratio(value: float | None) -> str:
    """Format an allocation ratio; a dash where the cloud's own ratio holds."""
    return '-' if value is None else str(float(value))


def limit(value: int | None) -> str:
    """Format a limit of a quota."""
    from pcloud.rules import units
    return 'unlimited' if value == units.UNLIMITED else text(value)


def default_pcloud(default: Mapping[str, typing.Any] | None) -> str:
    """Format a default Pcloud as in the API; None is outside of Pclouds."""
    if default is None:
        return 'outside of Pclouds'
    return f"{default.get('pcloud')} ({default.get('mode')})"


def grows(growth: Mapping[str, str | int | None] | None) -> str:
    """Format how a Pcloud grows; a dash where the Pcloud does not."""
    if growth is None:
        return '-'
    zone = growth['availability_zone']
    return f"{growth['host_flavor']}, to {growth['max_hosts']} hosts" + (
        f' in {zone}' if zone else '')


def shrinks(shrink: Mapping[str, int] | None) -> str:
    """Format when empty hosts leave a Pcloud; a dash for never."""
    if shrink is None:
        return '-'
    return (f"after {shrink['after_hours']} hours, keeps "
            f"{shrink['min_hosts']} hosts and {shrink['keep_spare']} empty")


def by_zone(counts: Mapping[str, int]) -> str:
    """Format the number of hosts in each availability zone."""
    return joined([f'{zone}: {each}' for zone, each in sorted(counts.items())])


def amounts(values: Mapping[str, typing.Any] | None) -> str:
    """Format resources, a line for each resource class.

    :param values: resource class -> amount, or how much is used and the total
    """
    return '\n'.join(
        f"{name}: {amount['used']} of {amount['total']}"
        if isinstance(amount, dict) else f'{name}: {amount}'
        for name, amount in sorted((values or {}).items())) or '-'


def pool(hosts: Sequence[resources.PoolHost] | None) -> str:
    """Format the hosts of a pool, a line for each host."""
    return '\n'.join(
        f'{host.host} ({text(host.availability_zone)}, '
        f'{_use(host)}, {text(host.status)}, {text(host.state)}'
        f'{", fenced" * host.fenced}'
        f'{_maintained(host.maintenance)}{_having(host.attributes)})'
        for host in hosts or ()) or '-'


def _use(host: resources.PoolHost) -> str:
    return host.pcloud or ('settling' if host.settling else 'free')


def _maintained(value: Mapping[str, typing.Any] | None) -> str:
    return '' if value is None else f', maintenance from {value["from"]}'


def _having(attributes: Mapping[str, str] | None) -> str:
    return ''.join(f', {name} {value}' for name, value
                   in sorted((attributes or {}).items()))


def maintenance(value: Mapping[str, typing.Any] | None) -> str:
    """Format a maintenance, a line for each member that is known."""
    return '\n'.join(f'{member}: {each}' for member, each
                     in (value or {}).items() if each) or '-'


def settings(values: Sequence[resources.Setting]) -> str:
    """Format effective constraints, a line each, without hidden values."""
    return '\n'.join(
        f'{setting.key} ({setting.source})' if setting.value is None else
        f'{setting.key}={setting.value} ({setting.source})'
        for setting in values) or '-'


def constraint_lines(value: str) -> str:
    """Format machine constraints, a line for each."""
    from pcloud.rules.placing import constraints
    return lines([constraints.text({key: each}) for key, each
                  in constraints.parse(value).items()])


def explained_hosts(values: Sequence[plan_resources.ExplainedHost]) -> str:
    """Format how many more servers fit each host, with the obstacles."""
    return '\n'.join(
        line for host in values for line in (
            f'{host.name}: {host.fits}',
            *(f'  {obstacle.rule}: {obstacle.reason}'
              for obstacle in host.in_the_way))) or '-'


def changes(values: Sequence[plan_resources.HelpfulChange]) -> str:
    """Format helpful changes, a line for each change."""
    return '\n'.join(change.text for change in values) or '-'


def binding(values: Sequence[plan_resources.BindingResource]) -> str:
    """Format what binds, a line for each resource."""
    return '\n'.join(f'{each.resource}: {each.short_by} more'
                     for each in values) or '-'


def more_hosts(values: Sequence[plan_resources.MoreHosts]) -> str:
    """Format the hosts to add, a line for each host flavor."""
    return '\n'.join(
        f'{each.hosts} of {each.host_flavor}: {each.units} units, '
        f'{each.free} free' + (
            f', quota short by {each.quota_short_by}'
            if each.quota_short_by else '')
        for each in values) or '-'


def lines(values: Sequence[str] | None) -> str:
    """Format a list, a line for each item."""
    return '\n'.join(values or ()) or '-'


def not_explained(values: Sequence[plan_resources.NotExplained]) -> str:
    """Format what cannot be told, a line for each."""
    return lines([each.text for each in values])


def bounds(value: Mapping[str, int]) -> str:
    """Format between which numbers a number is."""
    least, most = value['least'], value['most']
    return str(least) if least == most else f'{least} to {most}'


def bar(used: int, planned: int, size: int) -> str:
    """Draw how much of a host is used, planned and free.

    :param size: how much the host has, without an allocation ratio
    """
    whole = max(size, used + planned, 1)
    ends = [round(part * _WIDTH / whole) for part in (used, used + planned)]
    return ('#' * ends[0] + '+' * (ends[1] - ends[0])).ljust(_WIDTH, '.')


def loss(value: plan_resources.LostServers) -> str:
    """Format whether the servers of a lost host or rack fit."""
    name = value.host or f'rack {value.rack}'
    return f'{name}: {_verdict(value)}'


def _verdict(value: plan_resources.LostServers) -> str:
    from pcloud import text as text_rules
    least, most = value.no_room['least'], value.no_room['most']
    number = text(value.servers)
    if value.survives:
        return f'survives, {number} of {number} servers fit'
    if value.survives is False:
        lost = text_rules.counted(least or 0, 'server does', 'servers do')
        return (f'{lost} not fit' if least == most else
                f'at least {lost} not fit')
    if most is None:
        return 'not known'
    lost = text_rules.counted(most, 'server does', 'servers do')
    return f'not proven, up to {lost} not fit'


def refused_servers(values: Sequence[plan_resources.RefusedServer]) -> str:
    """Format the servers that no host takes again, a line each."""
    return '\n'.join(f'{each.server} on {each.host}: {each.reason}'
                     for each in values) or '-'


def worst(value: Mapping[str, typing.Any] | None) -> str:
    """Format what leaves most servers that do not fit."""
    if value is None:
        return '-'
    name = value.get('host') or f"rack {value.get('rack')}"
    return f"{name}: {value['servers']} without capacity"


def drain(value: Mapping[str, typing.Any] | None) -> str:
    """Format a drain or recovery, a line for each member and each blocker."""
    drain = dict(value or {})
    blockers = drain.pop('blockers', None) or ()
    return '\n'.join([
        *(f'{member}: {joined(each) if isinstance(each, list) else text(each)}'
          for member, each in drain.items()),
        *(': '.join(filter(None, (
            each['rule'], each['server'], each['reason'])))
          for each in blockers)]) or '-'


class Field(typing.NamedTuple):
    """A member to show.

    :ivar name: the member's name in the API
    :ivar header: the member's column in a list
    :ivar human: formats the member's value for people
    :ivar title: the column's head for people, where the head is not the header
    """

    name: str
    header: str
    human: Callable[[typing.Any], str] = text
    title: str = ''


_PCLOUD_HEAD = (
    Field('id', 'ID'),
    Field('name', 'Name'),
    Field('owner', 'Owner'),
)
_PCLOUD_SIZE = (
    Field('host_count', 'Host Count'),
    Field('units', 'Units'),
)
PCLOUD_LIST = _PCLOUD_HEAD + _PCLOUD_SIZE
PCLOUD = _PCLOUD_HEAD + (Field('tenants', 'Tenants', joined),) + (
    _PCLOUD_SIZE + (
        Field('cpu_allocation_ratio', 'CPU Allocation Ratio', ratio),
        Field('ram_allocation_ratio', 'RAM Allocation Ratio', ratio),
        Field('maintenance_policy', 'Maintenance Policy'),
        Field('host_recovery', 'Host Recovery'),
        Field('pin_by_tenants', 'Pin By Tenants'),
        Field('placement', 'Placement'),
        Field('flavors', 'Flavors', allowed),
        Field('images', 'Images', allowed),
        Field('shrink', 'Shrink', shrinks),
    ))

PCLOUD_WITH_GROWTH = PCLOUD + (Field('growth', 'Growth', grows),)

_HOST_HEAD = (
    Field('name', 'Name'),
    Field('host_flavor', 'Host Flavor'),
    Field('availability_zone', 'Availability Zone', title='Zone'),
    Field('state', 'State'),
    Field('status', 'Status'),
)
_HOST_SIZE = (
    Field('vcpus', 'VCPUs'),
    Field('vcpus_used', 'VCPUs Used'),
    Field('memory_mb', 'Memory MB', title='Memory MiB'),
    Field('memory_mb_used', 'Memory MB Used', title='Memory MiB Used'),
)
_HOST_TAIL = (
    Field('next_reboot', 'Next Reboot'),
    Field('rack', 'Rack'),
)
HOST_SHORT_LIST = _HOST_HEAD + (Field('instances', 'Instances', counted),)
HOST_LIST = HOST_SHORT_LIST + _HOST_SIZE + _HOST_TAIL
HOST = _HOST_HEAD + (Field('instances', 'Instances', joined),) + (
    _HOST_SIZE + _HOST_TAIL + (
        Field('drain', 'Drain', drain),
        Field('recovery', 'Recovery', drain),
        Field('maintenance', 'Maintenance', maintenance)))
HOST_FOR_ADMIN = HOST + (
    Field('hypervisor_hostname', 'Hypervisor Hostname'),)

_HOST_DATE = (Field('until', 'Until'), Field('move', 'Move'))
# What a host is, in the answers to calls that ask for hosts.
HOST_KIND = (
    Field('resources', 'Resources', amounts),
    Field('traits', 'Traits', lines),
)

# Where a server is; what a terminal of 80 columns has no room for comes last.
SERVER_SHORT_LIST = (
    Field('id', 'ID'),
    Field('name', 'Name'),
    Field('status', 'Status'),
    Field('pcloud', 'Pcloud'),
    Field('host', 'Host'),
    Field('rack', 'Rack'),
)
SERVER_LIST = SERVER_SHORT_LIST + (Field('pcloud_id', 'Pcloud ID'),)

POLICY = (
    Field('scope', 'Scope'),
    Field('id', 'ID'),
    Field('constraints', 'Constraints'),
    Field('customer_keys', 'Customer Keys', joined),
)
POLICY_FOR_ADMIN = POLICY + (
    Field('system_keys', 'System Keys', placement_keys),)
_EFFECTIVE = (Field('effective', 'Effective', settings),)
_COUNTING_DEFAULT = (
    Field('default_pcloud', 'Default Pcloud', default_pcloud),
    Field('default_pcloud_source', 'Default Pcloud Source'),
)

EXPLANATION = (
    Field('flavor', 'Flavor'),
    Field('fits', 'Fits'),
    Field('hosts', 'Hosts', explained_hosts),
    Field('changes', 'Changes', changes),
    Field('refused', 'Refused'),
    Field('not_explained', 'Not Explained', not_explained),
)

TENANT_LIST = (Field('project_id', 'Project ID'), Field('name', 'Name'))
TENANT_LONG = TENANT_LIST + (
    Field('max_servers', 'Max Servers'), Field('max_vcpus', 'Max VCPUs'),
    Field('max_memory_mb', 'Max Memory MB', title='Max Memory MiB'))

ATTRIBUTE = (
    Field('name', 'Name'),
    Field('value', 'Value'),
    Field('hosts', 'Hosts', joined),
)

NODE_KEY = (
    Field('name', 'Name'),
    Field('value', 'Value'),
    Field('sticky', 'Sticky Weight'),
    Field('aggregate', 'Aggregate'),
    Field('hosts', 'Hosts', joined),
)

QUOTA = (
    Field('project_id', 'Project ID'),
    Field('units_limit', 'Units Limit', limit),
    Field('units_in_use', 'Units In Use'),
)

DEFAULT_PCLOUD = (
    Field('project_id', 'Project ID'),
    Field('pcloud', 'Pcloud'),
    Field('mode', 'Mode'),
    Field('host_flavor', 'Host Flavor'),
    Field('max_hosts', 'Max Hosts'),
    Field('availability_zone', 'Availability Zone', title='Zone'),
    Field('source', 'Source'),
)

HOST_FLAVOR_LIST = (
    Field('id', 'ID'),
    Field('description', 'Description'),
    Field('units', 'Units'),
    Field('vcpus', 'VCPUs'),
    Field('memory_mb', 'Memory MB', title='Memory MiB'),
    Field('disk_gb', 'Disk GB', title='Disk GiB'),
    Field('available', 'Available', by_zone),
    Field('settling', 'Settling'),
)
HOST_FLAVOR = HOST_FLAVOR_LIST + HOST_KIND


def named(fields: Sequence[Field], names: Mapping[str, str],
          *members: str) -> Sequence[Field]:
    """Return fields that show people the names beside ids.

    :param names: id -> name; an id without a name is shown alone
    :param members: the names of the fields whose values are ids, or lists of
        ids
    """
    def with_name(value: str) -> str:
        name = names.get(value)
        return text(value) if name is None else f'{name} ({value})'

    def human(value: typing.Any) -> str:
        if isinstance(value, (list, tuple)):
            return '\n'.join(map(with_name, value)) or '-'
        return text(value) if value is None else with_name(value)

    return tuple(field._replace(human=human) if field.name in members
                 else field for field in fields)


def host_fields(host: resources.Host) -> Sequence[Field]:
    """Return the fields of a host: real name and date where shown."""
    its = HOST if host.hypervisor_hostname is None else HOST_FOR_ADMIN
    return its if host.until is None else (*its, *_HOST_DATE)


def policy_fields(policy: resources.Policy) -> Sequence[Field]:
    """Return the fields of a policy.

    System keys and a share are shown if the caller sees them, a default Pcloud
    where some scope has set the default, effective constraints if requested.
    """
    return (*(POLICY if policy.system_keys is None else POLICY_FOR_ADMIN),
            *(_COUNTING_DEFAULT if policy.default_pcloud_source else ()),
            *(() if policy.share is None else (Field('share', 'Share'),)),
            *(() if policy.effective is None else _EFFECTIVE))


def host_flavor_fields(flavor: resources.HostFlavor) -> Sequence[Field]:
    """Return the fields of a host flavor, with the pool if visible."""
    return HOST_FLAVOR + (
        *(() if flavor.price is None else (Field('price', 'Price'),)),
        Field('constraints', 'Constraints', constraint_lines),
        *(() if flavor.hosts is None else (Field('hosts', 'Hosts', pool),)))
