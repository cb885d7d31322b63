# SPDX-License-Identifier: Apache-2.0

"""Every option of the [pcloud] section of nova.conf."""

from oslo_config import cfg

from pcloud import key_options

pcloud_group = cfg.OptGroup(
    'pcloud',
    title='Pcloud',
    help="""
Whole hosts for tenants: a host is in the pool of a *host flavor*, and a
project takes it from there into its *Pcloud*, where only that project and the
tenants it names can start servers. nova-api, nova-scheduler and the
``pcloud-*`` commands read this section.
""")

options = sorted([
    *key_options.options,
    cfg.IntOpt(
        'allocation_attempts',
        default=5, min=1,
        help="""
How many hosts are tried before a request for a host gives up.

Of two requests that take the same host at the same moment one gets the host;
the other one waits a random short time and tries another host. Raise this
where many requests fight over few free hosts. When all attempts are used up,
the request is answered with 409.
"""),
    cfg.FloatOpt(
        'allocation_backoff',
        default=0.3, min=0.0,
        help="""
The longest time, in seconds, to wait before another host is tried.

The wait is drawn at random from 0 to this, times the number of attempts made
so far, so that requests that collided once drift apart.
"""),
    cfg.FloatOpt(
        'allocation_timeout',
        default=30.0, min=0.0,
        help="""
The time, in seconds, after which a request for a host tries no further host.

The request is answered with 409 then, and nothing has changed. Lower this
where a load balancer in front of nova-api gives up earlier.
"""),
    cfg.IntOpt(
        'growth_timeout',
        default=60, min=1,
        help="""
The time, in seconds, after which a launch that lets a Pcloud grow is dead.

One launch at a time, or one crowd of launches, lets a Pcloud grow (default
Pcloud in mode ``grow``). Other launches for which nova-scheduler finds no
capacity wait for their turn. A nova-scheduler that dies holds them up for no
longer than this. nova-scheduler has to have the option. Keep this well below
Nova's ``[DEFAULT] long_rpc_timeout``.
"""),
    cfg.IntOpt(
        'strict_timeout',
        default=60, min=1,
        help="""
The time, in seconds, after which a choice for a strict wish is taken for dead.

The schedulers choose hosts for the requests of a project with strict wishes
(hints ``near`` and ``far`` with ``locality=strict``) one after the other, so
that each choice knows the choices before. A scheduler that dies holds up the
strict wishes of the project for this long. A choice that takes longer does not
count when another one has begun: its server ends in ``ERROR``. A request waits
three times as long for others, and ends in ``ERROR`` then. Raise this where a
single choice may take longer, as for a thousand servers of one request.
"""),
    cfg.IntOpt(
        'drain_parallel',
        default=2, min=1,
        help="""
How many servers of a Pcloud's drained hosts are moved at the same time.

A drain with ``move`` has Nova migrate the servers of the host to other hosts
of the Pcloud. Servers that are being moved, or wait for a confirmation that
is due, count. Raise this where the network between hosts is fast.
"""),
    cfg.IntOpt(
        'maintenance_lead',
        default=14400, min=0,
        help="""
How many seconds before a maintenance begins servers are moved off the host.

It counts for Pclouds with the ``maintenance_policy`` ``migrate`` or
``replace``. Servers are moved until the maintenance begins, or for so long
where it had begun when it was announced. Raise this where hosts have many
or large servers; see ``drain_parallel``.
"""),
    cfg.IntOpt(
        'recovery_after',
        default=300, min=0,
        help="""
For how many seconds a host is down and fenced before its servers are started
on other hosts.

It counts for Pclouds with ``host_recovery``, from the moment when Nova last
heard of the compute service, or the service was last changed, such as fenced.
Raise this where hosts that are fenced often come back by themselves.
"""),
    cfg.IntOpt(
        'recovery_max_hosts',
        default=2, min=0,
        help="""
How many hosts of a cell are recovered within an hour without a person.

Where more hosts fail within an hour, a network or a room has failed rather
than hosts: the recovery of each further host is held, and told, until an
administrator says once more that the host is fenced. With 0 every recovery is
held. Raise this in cells with many hosts. Every worker has to have the same
value.
"""),
    cfg.IntOpt(
        'recovery_parallel',
        default=4, min=1,
        help="""
How many servers of a Pcloud's failed hosts are started elsewhere at the same
time.

Each server that Nova has been asked to evacuate counts until it has arrived.
Raise this where the other hosts and the volume service bear many servers that
start together.
"""),
    cfg.BoolOpt(
        'recovery_shared_disks',
        default=False,
        help="""
Whether the disks of servers are on storage that all hosts share.

By default a server with a disk on its host is not started on another host: its
disks would be made anew from its image, and its data would be lost. Set this
where ``[DEFAULT] instances_path``, or the hypervisors' pool of images, is
shared by all hosts of all Pclouds, and nowhere else. nova-api has to have the
option too, for it shows which servers stay.
"""),
    cfg.IntOpt(
        'settle_limit',
        default=3600, min=1,
        help="""
The time, in seconds, after which a request for a server is taken for dead.

A host that enters a pool or leaves a Pcloud settles: no project is given it
until the requests for servers that began before, and could still land on it,
have ended. A request that has not ended after this time is not waited for any
longer. What Placement still holds for a server or migration that is gone is a
finding of the audit after this time. Raise this where builds or moves of
servers take longer.
"""),
    cfg.BoolOpt(
        'allow_forced_moves',
        default=False,
        help="""
Let administrators force a server across the border of a pool or Pcloud.

A live migration that names a host below microversion 2.30, or with ``force``
up to 2.67, asks no scheduler; nor does an evacuation below 2.29, or with
``force`` up to 2.67. By default nova-api refuses such a move when it would
bring a server onto a host that is not for it. Set this only for an
emergency: the servers of strangers then share a host that somebody pays for.
Either way it is written to the log as a warning.
"""),
    cfg.StrOpt(
        'currency',
        default='',
        max_length=16,
        help="""
The currency of the prices of host flavors, such as ``EUR``.

It is shown beside costs, and nothing is converted. Empty shows none.
"""),
    cfg.IntOpt(
        'free_memory_overhead_mb',
        default=1024, min=0,
        help="""
How many MiB of each host's memory no server gets, beside those that are
reserved.

``FreeMemoryFilter`` reads this: a host passes when the memory that no server
has, ``reserved_host_memory_mb`` left out, exceeds the memory of the server and
this. No allocation ratio counts, so where ``ram_allocation_ratio`` is above 1
the filter keeps servers from using it. Raise it where hosts need more memory
for themselves than is reserved.

Related options:

* ``[filter_scheduler] enabled_filters`` has to name ``FreeMemoryFilter``
* ``[DEFAULT] reserved_host_memory_mb`` of nova-compute
"""),
    cfg.FloatOpt(
        'hardware_class_weight_multiplier',
        default=0.5,
        help="""
How much better hardware counts when a host is chosen for a server.

Hosts score from 0 (the lowest ``hardware_class``, or none) to 1 (the
highest); the score is multiplied by this and added to those of the other
weighers. A negative value prefers the lowest, 0 takes no notice. An aggregate
with metadata ``hardware_class_weight_multiplier`` overrides it for its hosts.
"""),
    cfg.StrOpt(
        'metrics_directory',
        help="""
The folder in which nova-api and the worker count allocations, for
``pcloud-manage metrics``.

Each process that allocates has two small files there, which ``pcloud-manage
metrics`` on the same machine, with the same option, adds up: allocations,
refusals, retries and seconds. The processes need the library
``prometheus_client`` and the right to write there; the folder is made when it
is missing. Take a folder of a local file system, best in memory, such as
``/run/pcloud/metrics``; containers that share it may. Counting never fails a
call: what goes wrong is written to the log once. Unset, nothing is counted.
"""),
    cfg.ListOpt(
        'other_hints',
        default=[],
        help="""
Names of scheduler hints that nova-api takes though they look like mistakes.

A launch with a hint whose name is one of Pcloud's but for letter case, such as
``Near``, or one letter off ``pcloud``, such as ``cloud``, is refused with 400:
the server would start as if the hint were not there. List here, exactly as
users write them, the names of such hints that a scheduler filter of your own
reads.
"""),
    cfg.FloatOpt(
        'owner_spread_weight_multiplier',
        default=0.0,
        help="""
How much fewer servers of the same project count when a host is chosen for a
server.

Hosts score from 0 (most servers of the project) to 1 (fewest); the score is
multiplied by this and added to those of the other weighers. A negative value
gathers the servers of a project, 0 takes no notice and reads nothing. An
aggregate with metadata ``owner_spread_weight_multiplier`` overrides it for its
hosts.
"""),
    cfg.FloatOpt(
        'platform_weight_multiplier',
        default=1.0,
        help="""
How much a newer platform counts when a host is chosen for a server.

Hosts score from 0 (the oldest ``platform_version``, or none) to 1 (the
newest); the score is multiplied by this and added to those of the other
weighers. A negative value prefers the oldest, 0 takes no notice. An aggregate
with metadata ``platform_weight_multiplier`` overrides it for its hosts.

Related options:

* ``[filter_scheduler] hypervisor_version_weight_multiplier``: set it to 0
  where the platform's version says the same, or it counts twice.
"""),
    cfg.StrOpt(
        'quota_driver',
        default='rows',
        choices=[
            ('rows', 'Pcloud keeps the limits'),
            ('unified', 'Keystone does, of the resource ``pcloud_units``')],
        help="""
Who keeps the limits of units of projects.

With ``unified`` the section ``[oslo_limit]`` says how Keystone is asked, as
for Nova's own unified limits; set its ``timeout``. While Keystone does not
answer no project gets hosts. nova-api, nova-scheduler and ``pcloud-manage
work`` need the same value, and the section. ``/os-pcloud-quotas`` sets none.
"""),
    cfg.IntOpt(
        'quota_units',
        default=10, min=-1,
        help="""
How many units the hosts in a project's Pclouds may cost together, for every
project that has no limit of its own. -1 is unlimited.

A host costs the units of its host flavor. A limit below what a project uses
already refuses the next host alone.
With ``quota_driver`` ``unified`` this has no effect.
"""),
    cfg.IntOpt(
        'reboot_bucket_days',
        default=7, min=1,
        max=3650,
        help="""
How many days of planned reboots are as good as each other.

Hosts are sorted into buckets of this length, counted back from the latest
``next_reboot`` among the hosts that a server may have. A host without a date,
or whose date has passed, is in the best bucket. Longer buckets leave more to
the other weighers.
"""),
    cfg.IntOpt(
        'reboot_filter_days',
        default=0, min=0,
        max=3650,
        help="""
Place no server on a host that is rebooted within this many days.

``RebootFilter`` reads this. 0 turns it off. Servers that live for less than
that are kept away too, so a preference is often enough.

Related options:

* ``[filter_scheduler] enabled_filters`` has to name ``RebootFilter``
"""),
    cfg.FloatOpt(
        'reboot_weight_multiplier',
        default=0.5,
        help="""
How much a later reboot counts when a host is chosen for a server.

Hosts score from 0 (the bucket that is rebooted first) to 1 (the one that is
rebooted last, or not at all); the score is multiplied by this and added to
those of the other weighers. A negative value prefers those that are rebooted
first, 0 takes no notice. An aggregate with metadata
``reboot_weight_multiplier`` overrides it for its hosts. The default counts
less than platform and memory do. See ``reboot_bucket_days``.
"""),
    cfg.IntOpt(
        'wait_entries',
        default=10, min=0,
        help="""
How many entries a project may have in the waiting lists of host flavors.
"""),
    cfg.IntOpt(
        'wait_limit',
        default=2592000, min=1,
        help="""
For how many seconds, at most, a Pcloud may wait for a host.
"""),
    cfg.FloatOpt(
        'waste_weight_multiplier',
        default=0.0,
        help="""
How much less waste counts when a host is chosen for a server.

Hosts score from 0 to 1 (those whose size exceeds the machine constraints of
the request the least: in memory, then in cpus, then in storage, then in each
resource class that is asked for); the score is multiplied by this and added to
those of the other weighers. 0 takes no notice. An aggregate with metadata
``waste_weight_multiplier`` overrides it for its hosts.

Related options:

* ``[filter_scheduler] enabled_filters``, for ``ConstraintsFilter``
"""),
], key=lambda option: option.name)


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Make the options known to `conf`; harmless when repeated."""
    conf.register_group(pcloud_group)
    conf.register_opts(options, group=pcloud_group)


def list_opts() -> list:
    """Options for the sample configuration (``oslo.config.opts``)."""
    return [(pcloud_group, options)]
