# SPDX-License-Identifier: Apache-2.0

"""The rooms and yards of Pcloud, and the imports that each of them allows.

A room is a folder or a module of the package `pcloud`, a yard a package beside
`pcloud`, which imports rooms and which no room imports.

Every import that the table does not allow is a fault. A room names the other
parts of Pcloud that the room's modules may import, and the third parties; a
dotted name allows all modules below the name. All rooms may import the
standard library.

The floors of a room are listed from top to bottom. Within a room, a module
imports from lower floors alone, so that there are no circles. A folder in a
room is on a floor of the room, and has floors inside.
"""

import ast
from collections.abc import Iterator
import dataclasses
import functools
import pathlib
import sys


@dataclasses.dataclass(frozen=True)
class Room:
    """The imports that the modules of a room may make.

    :ivar pcloud: parts of Pcloud outside of the room
    :ivar others: third parties
    :ivar floors: the modules and folders of the room, top floor first
    """

    pcloud: frozenset[str]
    others: frozenset[str]
    floors: tuple[frozenset[str], ...]


def _room(pcloud: str, others: str, *floors: str) -> Room:
    return Room(frozenset(pcloud.split()), frozenset(others.split()),
                tuple(frozenset(floor.split()) for floor in floors))


# Parts of Pcloud that every room that touches Nova may import.
_COMMON = 'rules names exception'
_OSLO = 'oslo_config oslo_log oslo_utils'
# Nova's scheduler without its client of Placement.
_SCHEDULER = ('nova.scheduler.filters nova.scheduler.host_manager '
              'nova.scheduler.request_filter nova.scheduler.utils '
              'nova.scheduler.weights')

ROOMS = {
    'rules': _room(
        'exception text', '',
        'waiting',
        'looks moving ratios turns usage',
        'host_resources placing record',
        'capacity consumers forms units',
        'coded'),
    'rules/placing': _room(
        '', '',
        'machines',
        'colocation constraints default_pcloud house_rules locality settling '
        'sticky',
        'access affinity attributes choice filling free_memory hints reasons '
        'spread'),
    'rules/moving': _room(
        '', '',
        'dates recovery',
        'assignments moves',
        'blockers draining maintenance_policies maintenance_windows '
        'shrinking spares'),
    'rules/usage': _room(
        '', '',
        'caps ledger'),
    'backend': _room(
        f'{_COMMON} text',
        f'{_OSLO} keystoneauth1 kombu neutronclient nova oslo_db '
        'oslo_limit oslo_messaging oslo_serialization requests sqlalchemy '
        'tenacity',
        'cells limits',
        'calls',
        'aggregates',
        'grants',
        'unified_limits',
        'changes complaints flavors identity outages request_specs'),
    'backend/aggregates': _room(
        '', '',
        'lists',
        'pool_rows',
        'closed_rows',
        'isolation',
        'launch_rows step_rows waiting_rows',
        'inherited_metadata pcloud_rows',
        'maintenance_rows span_rows',
        'kept_rows',
        'host_names readings rows sticky_copies'),
    'backend/calls': _room(
        '', '',
        'closed_services server_calls',
        'announce compute_calls placement'),
    'backend/cells': _room(
        '', '',
        'expected_places shelved_servers tenant_servers',
        'consumers fenced_services occupants past_moves scaled_servers '
        'servers started_servers',
        'compute_nodes',
        'arrivals computes guests host_counts marked_projects',
        'asking stray_services'),
    'backend/changes': _room(
        '', '',
        'change spans',
        'journal writes',
        'due'),
    'objects': _room(
        f'{_COMMON} text backend counters',
        f'{_OSLO} nova.context nova.objects nova.rpc '
        'oslo_versionedobjects tenacity',
        'changing_hands',
        'host_states',
        'homes hosts placed_servers tenants',
        'pclouds quotas',
        'placing',
        'host_flavors',
        'reconcile',
        'emptiness free_hosts looks',
        'allocation_ratios blockers host_resources notifications '
        'replacements turns'),
    'objects/changing_hands': _room(
        '', '',
        'matching stand_ins',
        'allocation',
        'choosing host_removal waiting_entries',
        'pool_hosts waiting_lists'),
    'objects/placing': _room(
        '', '',
        'machine_constraints right_values tenant_caps usable_pclouds',
        'scoped_policies sticky_keys',
        'affinity_keys host_attributes',
        'attribute_aggregates'),
    # A wing has the handlers of its own calls.
    'audit': _room(
        f'{_COMMON} text api.call api.policies api.route api.schemas backend '
        'moving objects',
        'nova.context oslo_config oslo_utils',
        'routes',
        'all_checks remains',
        'gap_checks placement_checks span_checks',
        'attribute_checks home_checks project_checks row_checks value_checks '
        'waiting_checks',
        'findings repair'),
    'scheduler': _room(
        # Growth begins where Nova loads the filters.
        f'{_COMMON} backend conf growth.destinations objects',
        f'{_OSLO} {_SCHEDULER} nova.context nova.exception nova.objects '
        'nova.scheduler.manager oslo_serialization',
        'filters weights',
        'affinity_scores prefilter request_keys',
        'host_holdings node_keys preferred_pcloud siblings strict_turns',
        'host_attributes host_capacity request',
        'candidates group_places host_kinds memo open_hosts'),
    'scheduler/filters': _room(
        '', '',
        'affinity colocation constraints free_memory locality pcloud reboot',
        'base'),
    'scheduler/weights': _room(
        '', '',
        'affinity hardware_class least_waste owner_spread platform preference '
        'reboot',
        'base'),
    # The rights of whoever lets a Pcloud grow are rights of the API.
    'growth': _room(
        f'{_COMMON} api.enforcer api.policies backend counters objects '
        'scheduler',
        'oslo_config oslo_log nova.context nova.exception nova.objects '
        'nova.scheduler.manager nova.scheduler.utils oslo_concurrency '
        'oslo_messaging oslo_serialization',
        'destinations',
        'launches',
        'joining',
        'crowds free_capacity growth_turns joint_calls rights'),
    'explain': _room(
        f'{_COMMON} backend objects scheduler',
        f'{_OSLO} {_SCHEDULER} nova.context nova.exception nova.filters '
        'nova.loadables nova.objects nova.pci nova.virt nova.weights '
        'os_traits',
        'schedule',
        'filtering group_room weighing',
        'conductor loading offers'),
    'planning': _room(
        f'{_COMMON} text api.call api.policies api.projects api.route '
        'api.schemas api.views api.wishes backend explain moving objects '
        'scheduler',
        'eventlet highspy jsonschema nova.context nova.exception '
        'nova.filters nova.objects nova.pci nova.scheduler.host_manager '
        'nova.virt os_traits oslo_serialization oslo_utils',
        'reboots routes',
        'handlers',
        'rebalance rehearse simulate',
        'counted_hosts pcloud_layout',
        'layout_requests',
        'lost_servers new_hosts',
        'bundles changes',
        'obstacles',
        'host_parts',
        'demands',
        'host_states programs'),
    'planning/handlers': _room(
        '', '',
        'explain rebalance rehearsal',
        'simulate'),
    'planning/programs': _room(
        '', '',
        'losses',
        'shortages',
        'packing relocation_search',
        'filling relocation_programs scheduled',
        'fitting relocation_order solvers',
        'host_patterns integer_programs providers relocation'),
    'moving': _room(
        f'{_COMMON} backend counters objects scheduler',
        f'{_OSLO} nova.context nova.exception nova.objects',
        'due_pclouds steps',
        'forecast leaving rebalancer recoveries',
        'failed_hosts',
        'asking drain_plan drains fences maintenance maintenance_reactions '
        'recovery_ends shrinking',
        'maintenance_drains recovery_subjects'),
    'worker': _room(
        'api backend client exception moving objects rules usage',
        f'{_OSLO} keystoneauth1 nova.api nova.context nova.policy requests '
        'webob',
        'loop',
        'passes',
        'scaled_services',
        'follower',
        'credentials key_pairs owner_threads tenant_calls'),
    'usage': _room(
        f'{_COMMON} api.call api.policies api.projects api.route api.schemas '
        'api.views backend objects',
        'nova.context oslo_config',
        'routes',
        'handlers',
        'existing_hosts held_hosts pcloud_use'),
    'metrics': _room(
        f'{_COMMON} audit backend counters objects',
        'nova.context oslo_log oslo_utils prometheus_client',
        'showing',
        'collector',
        'audits',
        'gauges serving',
        'addresses counters inventory'),
    'api': _room(
        f'{_COMMON} text backend conf explain growth moving objects',
        f'{_OSLO} cinderclient jsonschema keystoneauth1 neutronclient '
        'nova.api nova.compute.api nova.context nova.exception nova.image '
        'nova.network nova.objects nova.policies '
        'nova.policy nova.volume oslo_policy routes webob',
        'openapi wsgi',
        'routes',
        'handlers',
        'wishes',
        'call nova_calls',
        'constraint_levels enforcer',
        'views',
        'policies projects route schemas'),
    'api/handlers': _room(
        '', '',
        'about',
        'attributes hidden_servers host_flavors hosts pclouds quotas room '
        'scoped_policies servers tenants waiting'),
    'api/nova_calls': _room(
        '', '',
        'forced_moves kept_requests metadata servers',
        'default_pclouds growing_launches',
        'device_keys launch_sizes',
        'dispatch images shown_hints'),
    'api/policies': _room(
        '', '',
        'host_flavors hosts others pclouds scoped_policies',
        'base'),
    'api/schemas': _room(
        '', '',
        'host_flavors hosts pclouds scoped_policies',
        'shown types'),
    'api/views': _room(
        '', '',
        'host_flavors hosts waiting',
        'blockers maintenance pclouds scoped_policies',
        'reasons times'),
    'client': _room(
        'exception rules text',
        'keystoneauth1 requests novaclient cliff osc_lib openstack '
        'openstackclient',
        'osc',
        'deploy host_runs nova_cli rebalance_runs',
        'v1',
        'localities node_keys pool_hosts server_places',
        'calls display servers',
        'plan_resources usage_resources waiting_resources',
        'resources runs transport',
        'arguments exceptions'),
    'client/calls': _room(
        '', '',
        'host_flavors hosts pclouds planning scoped_policies usage waiting',
        'base'),
    'client/deploy': _room(
        '', '',
        'deployments future_units sync',
        'scaling',
        'fields plans removals',
        'details server_runs',
        'checks server_ends services',
        'devices parents readiness waits'),
    'client/nova_cli': _room(
        '', '',
        'host_flavors pclouds',
        'output'),
    'client/osc': _room(
        '', '',
        'pcloud_service',
        'host_flavor pcloud pcloud_attribute pcloud_default pcloud_host '
        'pcloud_policy pcloud_quota pcloud_service_deploy pcloud_tenant '
        'planning usage',
        'waiting',
        'common host_forecasts images plugin projects service_options'),
    'client/osc/usage': _room(
        '', '',
        'pcloud_cap pcloud_usage'),
    'client/osc/waiting': _room(
        '', '',
        'waiting_lists'),
    'client/osc/planning': _room(
        '', '',
        'pcloud_explain pcloud_rebalance pcloud_rehearse pcloud_simulate'),
    # Users' programs load the room, and no other room does.
    'sdk': _room(
        '', 'keystoneauth1 openstack requests',
        'proxy',
        'calls',
        'resources'),
    'sdk/calls': _room(
        '', '',
        'host_flavors hosts pclouds planning policies usage'),
    'sdk/resources': _room(
        '', '',
        'host_flavors hosts pclouds plans policies usage',
        'base'),
    'cmd': _room(
        'api audit backend conf exception explain metrics planning rules '
        'scheduler text worker',
        # Nova's databases are only configured there.
        'keystoneauth1 nova.api.auth '
        'nova.api.openstack.api_version_request nova.api.openstack.compute '
        'nova.availability_zones nova.compute nova.conf '
        'nova.config nova.context nova.db.api.api nova.db.main.api '
        'nova.exception nova.image nova.monkey_patch nova.objects '
        'nova.scheduler.filters nova.scheduler.weights nova.version '
        'oslo_config oslo_db.exception oslo_log oslo_upgradecheck packaging '
        'paste.deploy prettytable stevedore',
        'manage',
        'explain status',
        'api_pipelines audit explain_output internal_hints metrics '
        'reboot_plan uninstall work',
        'closed_pipe log_lines release seconds'),
    'counters': _room(
        'exception', 'oslo_config oslo_log prometheus_client',
        'allocations',
        'counter_files'),
    'text': _room('', ''),
    'names': _room('rules.forms exception', ''),
    'exception': _room('text', ''),
    'conf': _room('key_options', 'oslo_config'),
    'key_options': _room('', 'oslo_config'),
    'pcloud_sandbox': _room(
        'cmd.closed_pipe cmd.release pcloud_heat.plugins worker',
        'django glance heat keystone kombu neutron neutron_lib nova '
        'openstack_dashboard os_vif oslo_config oslo_log placement psutil '
        'sqlalchemy werkzeug',
        'cli demo',
        'launcher services',
        'command stories running hypervisors',
        'rest',
        'configuration',
        'errors narrator'),
    'pcloud_sandbox/configuration': _room(
        '', '',
        'config',
        'clouds_yaml dashboard databases environment messaging parts',
        'settings',
        'devstack layout options ports',
        'own_files',
        'ini paste sqlite'),
    'pcloud_sandbox/hypervisors': _room(
        '', '',
        'guest host_files machine'),
    'pcloud_sandbox/running': _room(
        '', '',
        'supervisor',
        'interrupts lock processes progress restarts'),
    'pcloud_sandbox/services': _room(
        '', '',
        'dashboard_setup nova_all nova_compute',
        'catalog dashboard_files guest_setup gunicorn_hooks heat hypervisor '
        'identity keystone_setup libvirt_compute nova_hosts nova_setup '
        'port_binding',
        'tables'),
    'pcloud_sandbox/stories': _room(
        '', '',
        'basic placement services',
        'cost draining servers',
        'hosts',
        'administrator boxes'),
    'pcloud_heat': _room(
        'client', 'heat oslo_log',
        'plugins',
        'default host pcloud tenant',
        'base'),
    'pcloud_heat/plugins': _room(
        '', '',
        'pclouds'),
    'pcloud_simulator': _room(
        'exception rules text', 'prettytable',
        'command',
        'generator output svg_plot',
        'replay',
        'simulated_cloud',
        'host_groups host_scores',
        'bits',
        'azure_trace fleets server_list',
        'csv_tables weight_sets',
        'input_values text_files workload'),
}

YARDS = ('pcloud_heat', 'pcloud_sandbox', 'pcloud_simulator')

# Tests look into every room, and the packages say what is exported.
_OPEN = ('tests', '__init__')


def faults(root: pathlib.Path) -> list[str]:
    """Return the forbidden imports and misplaced modules below a folder.

    :param root: the folder of the package `pcloud`, beside the yards
    :returns: lines with a path and a fault
    """
    return [f'{"/".join(parts)}: {fault}' for path, parts in _modules(root)
            for fault in _faults(path, parts)]


def _modules(
    root: pathlib.Path,
) -> Iterator[tuple[pathlib.Path, tuple[str, ...]]]:
    """Yield the modules of rooms and yards, each with the path's parts."""
    for folder, top in ((root, root), *(
            (root.parent / yard, root.parent) for yard in YARDS)):
        for path in sorted(folder.rglob('*.py')):
            parts = path.relative_to(top).with_suffix('').parts
            if parts[0] not in _OPEN:
                yield path, parts


def unused(root: pathlib.Path) -> list[str]:
    """Return what rooms may import and do not.

    :param root: the folder of the package `pcloud`
    :returns: each a room and what the room may import
    """
    names: dict[str, set[str]] = {}
    for path, parts in _modules(root):
        names.setdefault(parts[0], set()).update(
            name.removeprefix('pcloud.') for name in imported(path))
    return [f'{name}: {entry}' for name, room in ROOMS.items()
            for entry in sorted(room.pcloud | room.others)
            if not any(_is_below(each, frozenset([entry]))
                       for each in names[name])]


def _faults(path: pathlib.Path, parts: tuple[str, ...]) -> Iterator[str]:
    room = ROOMS.get(parts[0])
    if room is None:
        yield 'is in no room'
        return
    yield from _misplaced(parts)
    for name in imported(path):
        if name.startswith('.'):
            yield f'imports {name}, relative to itself'
        elif name.split('.')[0] in ('pcloud', *YARDS):
            yield from _within_pcloud(parts, name, room)
        elif name.split('.')[0] not in sys.stdlib_module_names and not (
                _is_below(name, room.others)):
            yield f'imports {name}'


def _misplaced(parts: tuple[str, ...]) -> Iterator[str]:
    """Find modules and folders that are on no floor of their rooms."""
    for depth in range(1, len(parts)):
        room = '/'.join(parts[:depth])
        if room not in ROOMS:
            yield f'{room} is no room'
        elif parts[depth] != '__init__' and _floor(room, parts[depth]) is None:
            yield f'{parts[depth]} is on no floor of {room}'


def _within_pcloud(parts: tuple[str, ...], name: str,
                   room: Room) -> Iterator[str]:
    target = tuple(name.removeprefix('pcloud.').split('.'))
    if target == ('pcloud',):
        return
    if target[0] != parts[0]:
        if not _is_below('.'.join(target), room.pcloud):
            yield f'imports {name}'
        return
    depth = 0
    while (depth < min(len(parts), len(target)) - 1 and
           parts[depth] == target[depth]):
        depth += 1
    here = '/'.join(parts[:depth])
    if parts[depth] == '__init__':
        return
    own, its = (_floor(here, each[depth]) for each in (parts, target))
    if own is not None and its is not None and its <= own:
        yield f'imports {name}, which is on no lower floor of {here}'


def _floor(room: str, name: str) -> int | None:
    """Return the number of a floor, counted from the top."""
    return next((number for number, floor
                 in enumerate(ROOMS[room].floors) if name in floor)
                if room in ROOMS else iter(()), None)


def _is_below(name: str, allowed: frozenset[str]) -> bool:
    parts = name.split('.')
    return any('.'.join(parts[:length]) in allowed
               for length in range(1, len(parts) + 1))


def imported(path: pathlib.Path) -> tuple[str, ...]:
    """Return the dotted names that a module imports, in functions too."""
    return _imported(path.read_text())


# Whoever plants a fault reads the rest of the tree again.
@functools.cache
def _imported(text: str) -> tuple[str, ...]:
    names: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.extend(
                f'{"." * node.level}{node.module or ""}.{alias.name}'
                for alias in node.names)
    return tuple(names)
