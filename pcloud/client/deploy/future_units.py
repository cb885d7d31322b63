# SPDX-License-Identifier: Apache-2.0

"""What is set for the units that a worker will start.

A worker copies a unit. So what counts for units to come is in the metadata of
all units that may be copied.

Rule: reference-colocation-set
"""

from collections.abc import Sequence

from pcloud.client.deploy import checks
from pcloud.client.deploy import scaling
from pcloud.client.deploy import services
from pcloud.client.deploy import waits
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.client import v1
from pcloud.rules import forms
from pcloud.rules.placing import hints


class NotSet(exceptions.ClientError):
    """Some units could not be told what counts for units to come."""


def set_constraints(client: v1.Client, service: str, written: str,
                    pace: waits.Pace) -> None:
    """Set the machine constraints of the units of a service to come.

    A unit that is being built can be told when it is built; the units that a
    worker starts meanwhile are told too.

    :param written: '' for no constraints
    :raises exceptions.NotFound: when the service has no units
    :raises checks.DeploymentRefused: when the service is not scaled with
        another service, or the constraints are not right
    :raises servers.NotAllKnown: when a part of the cloud does not answer
    :raises NotSet: when units could not be told until the time is up
    :raises exceptions.Interrupted: when the user interrupts
    """
    problems = checks.Problems()
    checks.check_options(service, servers.Options(
        hints={hints.CONSTRAINTS: written}), None, problems)
    if len(written) > forms.LIMIT:
        problems.add(f'constraints for units to come have at most '
                     f'{forms.LIMIT} characters, and not {len(written)}')
    if problems.texts:
        raise checks.DeploymentRefused('; '.join(problems.texts))
    told: set[str] = set()

    def tell() -> list[str]:
        """Tell the units; return why any of the units do not know."""
        known = services.Services(client.servers.list_known())
        return [text for unit in _copied(known, service)
                if unit.metadata.get(scaling.CONSTRAINTS) != written
                for text in _tell(client.servers, unit, written, told)]

    with exceptions.telling(lambda: (
            f'Set already: {", ".join(sorted(told)) or "nothing"}.')):
        _check_scaled(services.Services(client.servers.list_known()), service)
        left = waits.poll(tell, pace.timeout, lambda texts: not texts)
    for name in sorted(told):
        pace.report(f'{name}: set')
    if left:
        raise NotSet(
            f'Units to come may have other constraints, as these could not be '
            f'told: {"; ".join(left)}. Set the constraints again')


def _check_scaled(all_services: services.Services, service: str) -> None:
    all_services.existing(service)
    if not all_services.scaled_with(service):
        raise checks.DeploymentRefused(
            f"'{service}' was not deployed with --scale-with: whoever starts "
            'another unit gives the constraints with it')


def _copied(all_services: services.Services,
            service: str) -> list[servers.Server]:
    """Return the units that a worker may copy."""
    return [unit for unit in all_services.units(service)
            if services.is_scaled(unit)
            and unit.status not in (servers.ERROR, *servers.GONE)]


def _tell(nova: servers.Servers, unit: servers.Server, written: str,
          told: set[str]) -> Sequence[str]:
    """Tell a unit; return why the unit does not know."""
    try:
        nova.set_metadata(unit.id, {scaling.CONSTRAINTS: written})
    except exceptions.NotFound:
        return []
    except exceptions.Conflict as error:
        return [f'{unit.name} ({waits.reason(error)})']
    told.add(unit.name)
    return []
