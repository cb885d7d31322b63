# SPDX-License-Identifier: Apache-2.0

"""Services are deployed whole or not at all, and removed whole.

Rule: reference-colocation-deploy, reference-colocation-removal
"""

from pcloud.client.deploy import checks
from pcloud.client.deploy import plans
from pcloud.client.deploy import removals
from pcloud.client.deploy import scaling
from pcloud.client.deploy import server_ends
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import services
from pcloud.client.deploy import waits
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.client import v1


def deploy(client: v1.Client, find_image: checks.FindImage,
           order: plans.Order,
           pace: waits.Pace) -> list[services.Unit]:
    """Start all units of an order, or no unit.

    :returns: the units, in the order in which the run started the units,
        without units that were removed because another run had started a unit
        too
    :raises checks.DeploymentRefused: when the order cannot be deployed; no
        server was created
    :raises server_runs.DeploymentFailed: when a server could not be started;
        the created servers are deleted again
    :raises exceptions.Interrupted: when the user interrupts; the created
        servers are deleted again
    """
    def finish(created: list[servers.Server]) -> list[servers.Server]:
        if not order.scale_with:
            return created
        staying = removals.withdraw_doubles(client.servers, created, pace)
        scaling.end_deployment(client.servers, staying)
        return staying

    with exceptions.telling(lambda: 'Nothing was created.'):
        groups = plans.plan(client, find_image, order)
    created = server_runs.create_all(client.servers, groups, pace, finish)
    known = services.Services(
        [*(server for group in groups for server in group.near), *created])
    return [known.unit(server) for server in created]


def undeploy(client: v1.Client, service: str,
             pace: waits.Pace) -> None:
    """Stop the units of a service, then co-located servers, and delete all.

    :raises exceptions.NotFound: when the service has no units
    :raises servers.NotAllKnown: when a part of the cloud does not answer
    :raises server_ends.NotStopped: when a server could not be deleted, or not
        be stopped; in the latter case no server is deleted. The message names
        the remedies
    :raises exceptions.Interrupted: when the user interrupts; the message names
        the servers that may be there
    """
    all_services = _all_services(client)
    try:
        removals.remove(client.servers, all_services,
                        all_services.existing(service), pace)
    except server_ends.NotStopped as error:
        raise server_ends.NotStopped(
            f'{error}. Then undeploy what is left; with --force all that can '
            f'be deleted is deleted, stopped or not') from error


def undeploy_by_force(client: v1.Client, service: str,
                      pace: waits.Pace) -> None:
    """Stop and delete the servers of `undeploy`, whatever fails on the way.

    :raises exceptions.NotFound: when the service has no units
    :raises servers.NotAllKnown: when a part of the cloud does not answer
    :raises server_ends.NotStopped: with the servers that could not be deleted
    :raises exceptions.Interrupted: as `undeploy`
    """
    all_services = _all_services(client)
    removals.force(client.servers, all_services,
                   all_services.existing(service), pace)


def _all_services(client: v1.Client) -> services.Services:
    with exceptions.telling(lambda: 'Nothing was stopped or deleted.'):
        return services.Services(client.servers.list_known())
