# SPDX-License-Identifier: Apache-2.0

"""What fits a Pcloud, and which servers to move."""

from openstack import resource

from pcloud.sdk.resources import base


class _Plan(base.Resource):
    """An answer about a Pcloud, without an id of its own."""

    requires_id = False

    #: The id of the Pcloud.
    pcloud_id = resource.URI('pcloud_id')
    #: What may be otherwise; each with "text", "code" and "params".
    not_explained = resource.Body('not_explained', type=list)


class Room(base.Resource):
    """The number of groups of servers that there is capacity for."""

    resource_key = 'room'
    base_path = '/os-pcloud-room'
    requires_id = False

    allow_fetch = True

    #: At most the number that was asked for.
    groups = resource.Body('groups', type=int)
    #: Why there is capacity for fewer groups, or None.
    reason = resource.Body('reason')
    #: The reason for programs.
    code = resource.Body('code')
    #: The values of the reason.
    params = resource.Body('params', type=dict)


class Explanation(_Plan):
    """How many more servers of a flavor fit, and the obstacles."""

    resource_key = 'explain'
    base_path = '/os-pclouds/%(pcloud_id)s/explain'

    allow_fetch = True

    #: The id of the flavor.
    flavor = resource.Body('flavor')
    #: How many more servers fit.
    fits = resource.Body('fits', type=int)
    #: Each with "name", "fits" and "in_the_way".
    hosts = resource.Body('hosts', type=list)
    #: Each with "change", "subject" and "text", the smallest first.
    changes = resource.Body('changes', type=list)
    #: Why no host at all would do, or None.
    refused = resource.Body('refused')
    #: The reason for programs.
    code = resource.Body('code')
    #: The values of the reason.
    params = resource.Body('params', type=dict)


class Simulation(_Plan):
    """Whether servers fit a Pcloud together.

    Members of the question are servers, include_disabled and without.
    """

    resource_key = 'simulate'
    base_path = '/os-pclouds/%(pcloud_id)s/simulate'

    allow_create = True

    #: Each with "flavor", "count" and perhaps "apart".
    servers = resource.Body('servers', type=list)
    #: Whether disabled hosts count.
    include_disabled = resource.Body('include_disabled', type=bool)
    #: The names of hosts that do not count.
    without = resource.Body('without', type=list)

    #: Whether all servers fit.
    fits = resource.Body('fits', type=bool)
    #: Whether the answer is proven.
    exact = resource.Body('exact', type=bool)
    #: "least" servers fit, more than "most" do not.
    bounds = resource.Body('bounds', type=dict)
    #: Each with "host", "flavor" and "count".
    placed = resource.Body('placed', type=list)
    #: Each with "resource" and "short_by".
    binding = resource.Body('binding', type=list)
    #: The names of hosts that only have to be enabled.
    enable = resource.Body('enable', type=list)
    #: The hosts to add: "host_flavor", "hosts", "units", "free".
    more = resource.Body('more', type=list)
    #: Why no host at all would do, or None.
    refused = resource.Body('refused')
    #: The reason for programs.
    code = resource.Body('code')
    #: The values of the reason.
    params = resource.Body('params', type=dict)


class Rehearsal(_Plan):
    """Which hosts or racks of a Pcloud may fail, one at a time."""

    resource_key = 'rehearsal'
    base_path = '/os-pclouds/%(pcloud_id)s/rehearsal'

    allow_fetch = True

    #: So many may fail, and all servers fit.
    survives = resource.Body('survives', type=int)
    #: The number of hosts, or of racks.
    of = resource.Body('of', type=int)
    #: Whether the answer is proven.
    exact = resource.Body('exact', type=bool)
    #: "least" and "most" that may fail.
    bounds = resource.Body('bounds', type=dict)
    #: The "host" or "rack" that leaves most "servers" without capacity.
    worst = resource.Body('worst', type=dict)
    #: Each with "host" or "rack", "servers", "survives" and "no_room".
    losses = resource.Body('losses', type=list)
    #: The hosts to add, so that any may fail.
    more = resource.Body('more', type=list)
    #: The servers that no host takes again, each with "reason".
    refused_servers = resource.Body('refused_servers', type=list)


class Rebalance(_Plan):
    """Which servers of a Pcloud to move.

    Members of the question are goal, flavor, count, max_moves and move.
    """

    resource_key = 'rebalance'
    base_path = '/os-pclouds/%(pcloud_id)s/rebalance'

    allow_create = True
    allow_fetch = True
    allow_delete = True

    #: "free_hosts" or "fit".
    goal = resource.Body('goal')
    #: The id of the flavor that is to fit.
    flavor = resource.Body('flavor')
    #: How many servers of the flavor are to fit.
    count = resource.Body('count', type=int)
    max_moves = resource.Body('max_moves', type=int)
    #: "live", or "any" for stopped servers too.
    move = resource.Body('move')

    #: Each with "server", "from" and "to".
    moves = resource.Body('moves', type=list)
    #: The moves that may run at once, by the places of the moves in the list.
    steps = resource.Body('steps', type=list)
    #: The names of hosts that become empty.
    frees = resource.Body('frees', type=list)
    #: The units of these hosts.
    units_saved = resource.Body('units_saved', type=int)
    #: What begins the plan.
    valid_for = resource.Body('valid_for')
    #: Whether no plan is better.
    exact = resource.Body('exact', type=bool)
    #: Whether the servers of the goal "fit" have capacity then.
    fits = resource.Body('fits', type=bool)
    #: The servers that stay, each with "rule" and "reason".
    pinned = resource.Body('pinned', type=list)
    #: What an earlier plan has still to move.
    under_way = resource.Body('under_way', type=list)
    #: "at" and "reason" of a plan that has ended before the end, or None.
    stopped = resource.Body('stopped', type=dict)
