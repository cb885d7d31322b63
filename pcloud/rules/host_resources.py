# SPDX-License-Identifier: Apache-2.0

"""What a host is: the resources and the traits of the host.

Resources and traits are named as in Placement.

Rule: reference-host-resources
"""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from pcloud.rules import capacity

_PCPU = 'PCPU'

# Traits that tell the state of a host, and not what the host is.
_STATES = frozenset(('COMPUTE_STATUS_DISABLED',))


@dataclasses.dataclass(frozen=True)
class Resources:
    """The resources and the traits of a host.

    :ivar total: ``resource class -> amount``, the sum of all resource
        providers of the host
    :ivar used: ``resource class -> amount``, with the classes of `total`
    :ivar traits: the traits of all resource providers of the host
    """

    total: Mapping[str, int]
    used: Mapping[str, int]
    traits: frozenset[str]

    @property
    def cpus(self) -> int:
        """The number of the cpus, shared and dedicated."""
        return self.total.get(capacity.VCPU, 0) + self.total.get(_PCPU, 0)


@dataclasses.dataclass(frozen=True)
class Kind:
    """What all hosts of a pool have.

    :ivar resources: ``resource class -> smallest amount among the hosts``; a
        class that a host has not is left out
    :ivar traits: the traits that all hosts have
    :ivar cpus: the smallest number of cpus, shared and dedicated
    """

    resources: Mapping[str, int]
    traits: frozenset[str]
    cpus: int


def sized(
    resources: Resources, vcpus: int, memory_mb: int, disk_gb: int,
) -> Resources:
    """Return resources with the sizes of the compute node.

    Placement has applied allocation ratios, and has left out what the operator
    reserves. A size of a class that the host does not offer is left out: the
    disk may belong to several hosts.

    :param memory_mb: in MiB
    :param disk_gb: in GiB
    """
    sizes = {capacity.VCPU: vcpus, capacity.MEMORY: memory_mb,
             capacity.DISK: disk_gb}
    return dataclasses.replace(resources, total={
        name: sizes.get(name, amount)
        for name, amount in resources.total.items()})


def kind(hosts: Iterable[Resources]) -> Kind | None:
    """Return what all hosts have, None of no host.

    =========  ==================  ========================
    host       resources           traits
    =========  ==================  ========================
    a          VCPU 8, VGPU 2      HW_CPU_X86_AVX, CUSTOM_A
    b          VCPU 4, CUSTOM_A 1  HW_CPU_X86_AVX
    all hosts  VCPU 4              HW_CPU_X86_AVX
    =========  ==================  ========================
    """
    hosts = list(hosts)
    if not hosts:
        return None
    common = frozenset.intersection(*(frozenset(its.total) for its in hosts))
    return Kind(
        {name: min(its.total[name] for its in hosts)
         for name in sorted(common)},
        frozenset.intersection(*(its.traits for its in hosts)),
        min(its.cpus for its in hosts))


def lasting(traits: Iterable[str]) -> frozenset[str]:
    """Leave out traits that tell the state of a host."""
    return frozenset(traits) - _STATES
