# SPDX-License-Identifier: Apache-2.0

"""Requests, as in nova-scheduler."""

from __future__ import annotations

from collections.abc import Mapping

from nova import objects
from oslo_utils import uuidutils

from pcloud.tests.benchmarks.filters import cloud

# A project without a Pcloud.
STRANGER = 'c' * 32


def ordinary() -> objects.RequestSpec:
    """Return a request without any hint or key of Pcloud."""
    return _request(STRANGER, {}, {})


def with_hints(**hints: list[str]) -> objects.RequestSpec:
    """Return a request with hints, of the project that has a Pcloud."""
    return _request(cloud.PROJECT, hints, {})


def with_extra_specs(
    extra_specs: Mapping[str, str],
) -> objects.RequestSpec:
    """Return a request with a flavor's extra specs."""
    return _request(STRANGER, {}, extra_specs)


def _request(
    project: str, hints: Mapping[str, list[str]],
    extra_specs: Mapping[str, str],
) -> objects.RequestSpec:
    return objects.RequestSpec(
        project_id=project, instance_uuid=uuidutils.generate_uuid(),
        num_instances=1, scheduler_hints=dict(hints),
        flavor=objects.Flavor(
            id=2, flavorid='2', name='m', vcpus=2, memory_mb=2048, root_gb=10,
            ephemeral_gb=0, swap=0, extra_specs=dict(extra_specs)))
