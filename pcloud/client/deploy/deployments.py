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

"""Services that are deployed whole, or not at all, and taken away whole.

Source: CONTRACT section 7; co-located-services.
"""

from pcloud.client.deploy import checks
from pcloud.client.deploy import plans
from pcloud.client.deploy import removals
from pcloud.client.deploy import server_runs
from pcloud.client.deploy import services
from pcloud.client import v1


def deploy(client: v1.Client, find_image: checks.FindImage,
           order: plans.Order,
           pace: server_runs.Pace) -> list[services.Unit]:
    """Start all units of an order, or none.

    :returns: the units, in the order in which they were started; without
        those that were taken back, as another run had started them, too
    :raises checks.DeploymentRefused: when it cannot be deployed
        so; nothing was created
    :raises server_runs.DeploymentFailed: when a part could not be started;
        what was created is deleted again
    """
    groups = plans.plan(client, find_image, order)
    created = server_runs.create_all(client.servers, groups, pace)
    if order.scale_with:
        created = removals.withdraw_doubles(
            client.servers, created, pace)
    known = services.Services(
        [*(each for group in groups for each in group.near), *created])
    return [known.unit(each) for each in created]


def undeploy(client: v1.Client, service: str,
             pace: server_runs.Pace) -> None:
    """Stop the units of a service, then those co-located; delete them all.

    :raises exceptions.NotFound: when it has no units
    :raises servers.NotAllKnown: when a part of the cloud does not answer
    :raises server_runs.NotStopped: when one could not be stopped, and then
        nothing is deleted, or not be deleted
    """
    found = services.Services(client.servers.list_known())
    removals.remove(
        client.servers, found, found.existing(service), pace)
