# SPDX-License-Identifier: Apache-2.0

"""The subjects of the benchmark: filters and weighers, each with a request.

Nova's own handlers find and run the classes, as in nova-scheduler.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import dataclasses
import importlib.util
from typing import Any

import fixtures
from nova import context as nova_context
from nova import objects
from nova.scheduler import filters
from nova.scheduler import host_manager
from nova.scheduler import weights
from oslo_config import cfg

from pcloud.backend.aggregates import isolation
from pcloud.rules import host_resources
from pcloud.scheduler import candidates
from pcloud.scheduler import memo
from pcloud.tests.benchmarks.filters import cloud as clouds
from pcloud.tests.benchmarks.filters import hosts
from pcloud.tests.benchmarks.filters import requests

ORDINARY = 'nothing asked'
PCLOUD = 'a Pcloud'
READ = ', reads handed in'
AGAIN = ', values of the request known'
SYSTEM_KEYS = f'{clouds.KEYS} system keys'
SIZES = 'cpu, ram, storage'
ATTRIBUTES = 'ram=max, platform, rack'
HOLDINGS = 'resource:, trait:, answer of Placement handed in'
SWITCHED_OFF = 'multiplier of 0'
COMPUTED_KEYS = f'{SYSTEM_KEYS}, #RAM, #CPU, #LOAD'
CUSTOMER_KEYS = f'{clouds.KEYS} customer keys'
WITHOUT = 'no host has the attribute'
OWNER = 'owner_spread_weight_multiplier'

FLOOR = 'AllHostsFilter'
TENANCY = 'AggregateMultiTenancyIsolation'
BLAZAR = 'BlazarFilter'
OURS = 'PcloudFilter'
RAM = 'RAMWeigher'

_FILTERS = ['nova.scheduler.filters.all_filters',
            'pcloud.scheduler.filters.all_filters']
_WEIGHERS = ['nova.scheduler.weights.all_weighers',
             'pcloud.scheduler.weights.all_weighers']
_BLAZAR = 'blazarnova.scheduler.filters.blazar_filter'

_States = Sequence[host_manager.HostState]
_Around = Callable[[], contextlib.AbstractContextManager]


@dataclasses.dataclass(frozen=True)
class Subject:
    """A filter or weigher, with a kind of request.

    :ivar name: the name of the class
    :ivar asked: the kind of request
    :ivar request: function that makes a request; each run needs a new request,
        because readings for a request are kept with the request
    :ivar run: function that runs the filter or weigher on hosts and request,
        and returns the hosts
    :ivar around: context manager around a run, such as changed options
    """

    name: str
    asked: str
    request: Callable[[], objects.RequestSpec]
    run: Callable[[objects.RequestSpec], Sequence[Any]]
    around: _Around = contextlib.nullcontext


def has_blazar() -> bool:
    """Return whether blazar-nova is installed."""
    return importlib.util.find_spec('blazarnova') is not None


def of(cloud: clouds.Cloud, cell: objects.CellMapping) -> list[Subject]:
    """Return all subjects on a cloud."""
    states = hosts.in_pclouds(cloud, cell)
    return [*_peers(cloud, cell, states), *_pcloud_filter(cloud, states),
            *_filters(cloud, states), *_weighers(states),
            *_idle_weighers(states, hosts.in_zones(cloud, cell))]


def _peers(
    cloud: clouds.Cloud, cell: objects.CellMapping, states: _States,
) -> Iterator[Subject]:
    yield _filter(FLOOR, ORDINARY, states, requests.ordinary)
    alone = hosts.for_multi_tenancy(cloud, cell)
    yield _filter(TENANCY, ORDINARY, alone, requests.ordinary)
    yield _filter(TENANCY, PCLOUD, alone, requests.with_hints)
    if has_blazar():
        reserved = hosts.for_blazar(cloud, cell)
        yield _filter(BLAZAR, ORDINARY, reserved, requests.ordinary)
        yield _filter(BLAZAR, PCLOUD, reserved, lambda: requests.with_hints(
            reservation=[cloud.pclouds[0].id]))


def _pcloud_filter(
    cloud: clouds.Cloud, states: _States,
) -> Iterator[Subject]:
    def with_hint() -> objects.RequestSpec:
        return requests.with_hints(pcloud=[cloud.pclouds[0].id])

    context = nova_context.get_admin_context()
    closed = isolation.closed_hosts(context)
    pcloud = isolation.pcloud_access(context, cloud.pclouds[0].id)
    for asked, request, reader, read in (
            (ORDINARY, requests.ordinary, 'closed_among', closed),
            (PCLOUD, with_hint, 'usable_pcloud', pcloud)):
        yield _filter(OURS, asked, states, request)
        yield _filter(OURS, asked + READ, states, request,
                      _handed_in(reader, read))


def _handed_in(reader: str, read: Any) -> _Around:
    """Have a function of `isolation` return rows that were read before."""
    return lambda: fixtures.MonkeyPatch(
        f'{isolation.__name__}.{reader}', lambda *args: read)


def _filters(cloud: clouds.Cloud, states: _States) -> Iterator[Subject]:
    near, far = cloud.own[0], cloud.own[-1]
    weights_ = {name: '10' if number % 2 else '-10' for number, name in
                enumerate(f'K{key}' for key in range(clouds.KEYS))}
    keys = _system_keys(weights_)
    computed = _system_keys({**weights_, 'special.RAM': '10',
                             'special.CPU': '10', 'special.LOAD': '10'})
    for name, asked, request in (
            ('AffinityFilter', SYSTEM_KEYS, keys),
            ('AffinityFilter', COMPUTED_KEYS, computed),
            ('ConstraintsFilter', SIZES,
             lambda: requests.with_hints(
                 constraints=['cpu=16 ram=64G storage=1T'])),
            ('ConstraintsFilter', ATTRIBUTES,
             lambda: requests.with_hints(constraints=[
                 'ram=max platform_version=2.1,^2.2 rack=^r7'])),
            ('LocalityFilter', 'near one, far from one',
             lambda: requests.with_hints(near=[near], far=[far])),
            ('ColocationFilter', 'in a service',
             lambda: requests.with_hints(service=['web'], **{'in': ['db']}))):
        yield _filter(name, asked, states, request)
    for name in ('AffinityFilter', 'ConstraintsFilter'):
        yield _known(_filter(name, ORDINARY, states, requests.ordinary))
    yield _filter('ConstraintsFilter', HOLDINGS, states, _of_placement,
                  _answered(states))
    for name in ('AffinityFilter', 'ConstraintsFilter', 'LocalityFilter',
                 'ColocationFilter', 'RebootFilter'):
        yield _filter(name, ORDINARY, states, requests.ordinary)
    yield _filter('RebootFilter', 'reboot_filter_days', states,
                  requests.ordinary, _option('reboot_filter_days', 7))
    yield _filter('FreeMemoryFilter', ORDINARY, states, requests.ordinary)


def _known(subject: Subject) -> Subject:
    """Return a subject that runs a second time for a request.

    What the memo of a request (`memo`) saves is the difference to the first
    time.
    """
    def request() -> objects.RequestSpec:
        made = subject.request()
        subject.run(made)
        return made

    return dataclasses.replace(
        subject, asked=subject.asked + AGAIN, request=request)


def _weighers(states: _States) -> Iterator[Subject]:
    levels = {each.host: number % 3
              for number, each in enumerate(states)}

    def prefers() -> objects.RequestSpec:
        request = requests.ordinary()
        memo.of_request(request).levels['LocalityFilter'] = levels
        return request

    weights_ = dict.fromkeys((f'K{key}' for key in range(clouds.KEYS)), '10')
    for name, asked, request in (
            (RAM, ORDINARY, requests.ordinary),
            ('AffinityWeigher', ORDINARY, requests.ordinary),
            ('AffinityWeigher', SYSTEM_KEYS, _system_keys(weights_)),
            ('AffinityWeigher', CUSTOMER_KEYS,
             lambda: requests.with_hints(placement_key=[
                 f'app{key}=1:10' for key in range(clouds.KEYS)])),
            ('PreferenceWeigher', ORDINARY, requests.ordinary),
            ('PreferenceWeigher', 'a third of the hosts', prefers),
            ('PlatformWeigher', ORDINARY, requests.ordinary),
            ('RebootWeigher', ORDINARY, requests.ordinary),
            ('HardwareClassWeigher', ORDINARY, requests.ordinary)):
        yield _weigher(name, asked, states, request)
    yield _weigher(
        'LeastWasteWeigher', 'waste_weight_multiplier', states,
        lambda: requests.with_hints(constraints=['cpu=16 ram=64G']),
        _option('waste_weight_multiplier', 1.0))
    yield _weigher(
        'OwnerSpreadWeigher', OWNER, states, requests.with_hints,
        _option(OWNER, 1.0))
    answered, switched_on = _answered(states), _option(
        'waste_weight_multiplier', 1.0)

    @contextlib.contextmanager
    def around() -> Iterator[None]:
        with answered(), switched_on():
            yield

    yield _weigher('LeastWasteWeigher', HOLDINGS, states, _of_placement,
                   around)


def _idle_weighers(states: _States, plain: _States) -> Iterator[Subject]:
    """Yield weighers that tell no hosts apart.

    :param plain: hosts without attributes
    """
    # By default the multipliers of these two are 0.
    yield _weigher(
        'LeastWasteWeigher', ORDINARY, states, requests.ordinary)
    yield _weigher(
        'OwnerSpreadWeigher', ORDINARY, states, requests.ordinary)
    for name, option in (
            ('PlatformWeigher', 'platform_weight_multiplier'),
            ('RebootWeigher', 'reboot_weight_multiplier'),
            ('HardwareClassWeigher', 'hardware_class_weight_multiplier')):
        yield _weigher(name, SWITCHED_OFF, states, requests.ordinary,
                       _option(option, 0.0))
        yield _weigher(name, WITHOUT, plain, requests.ordinary)


def _of_placement() -> objects.RequestSpec:
    return requests.with_hints(constraints=[
        'resource:CUSTOM_FPGA=2 resource:VCPU=8 trait:CUSTOM_FAST=required'])


def _answered(states: _States) -> _Around:
    """Have Placement tell that each host but every tenth has a class."""
    told = {state.uuid: host_resources.Resources(
        {'CUSTOM_FPGA': 1 + number % 4}, {},
        frozenset(['CUSTOM_FAST', 'HW_CPU_X86_AVX'][number % 2:]))
        for number, state in enumerate(states) if number % 10}
    return lambda: fixtures.MonkeyPatch(
        f'{candidates.__name__}.holdings', lambda *args: told)


def _system_keys(
    key_weights: Mapping[str, str],
) -> Callable[[], objects.RequestSpec]:
    """Return a function that makes a request with system keys.

    :param key_weights: name of a system key -> weight
    """
    return lambda: requests.with_extra_specs({
        f'pcloud:system_key:{name}': f'0.5:{weight}'
        for name, weight in key_weights.items()})


def _option(name: str, value: Any) -> _Around:
    @contextlib.contextmanager
    def around() -> Iterator[None]:
        cfg.CONF.set_override(name, value, group='pcloud')
        try:
            yield
        finally:
            cfg.CONF.clear_override(name, group='pcloud')
    return around


def _filter(
    name: str, asked: str, states: _States,
    request: Callable[[], objects.RequestSpec],
    around: _Around = contextlib.nullcontext,
) -> Subject:
    handler = filters.HostFilterHandler()
    names = _FILTERS + ([f'{_BLAZAR}.{BLAZAR}'] if has_blazar() else [])
    found = _instance(handler.get_matching_classes(names), name)
    return Subject(
        name, asked, request,
        lambda spec: handler.get_filtered_objects([found], states, spec),
        around)


def _weigher(
    name: str, asked: str, states: _States,
    request: Callable[[], objects.RequestSpec],
    around: _Around = contextlib.nullcontext,
) -> Subject:
    handler = weights.HostWeightHandler()
    found = _instance(handler.get_matching_classes(_WEIGHERS), name)
    return Subject(
        name, asked, request,
        lambda spec: handler.get_weighed_objects([found], states, spec),
        around)


def _instance(classes: Sequence[type], name: str) -> Any:
    return next(each for each in classes if each.__name__ == name)()
