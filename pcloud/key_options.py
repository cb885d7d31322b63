# SPDX-License-Identifier: Apache-2.0

"""The options of placement keys, in the [pcloud] section of nova.conf."""

from oslo_config import cfg
from oslo_config import types

options = [
    cfg.FloatOpt(
        'cpu_contention_weight',
        default=0.0,
        help="""
The weight of the placement key ``#CPU`` of the cloud, whose value is 0.

A host has the share of its virtual cpus that is given out, from 0 to 1. A
positive weight prefers hosts with less of it, a negative one those with more;
0 leaves the key out. Policies, flavors and images override it.
"""),
    cfg.StrOpt(
        'customer_key_scope',
        default='cloud',
        choices=[
            ('cloud', 'the customer keys of all servers on a host count'),
            ('project', 'only those of servers of the same project count')],
        help="""
Whose servers a customer's placement keys are compared with.

With ``cloud`` a project can keep away from, or be drawn to, the servers of
others that happen to use a key of the same name.
"""),
    cfg.FloatOpt(
        'final_msav',
        default=-10.0,
        help="""
The threshold of the last round of the affinity algorithm. A host whose system
score does not exceed it gets no server that has placement keys.

Related options:

* ``[pcloud] initial_msav``
* ``[pcloud] msav_steps``
"""),
    cfg.FloatOpt(
        'initial_msav',
        default=80.0,
        help="""
The threshold of the first round of the affinity algorithm. Hosts whose system
score exceeds it are alike to the administrator.

Related options:

* ``[pcloud] final_msav``
* ``[pcloud] msav_steps``
"""),
    cfg.FloatOpt(
        'load_weight',
        default=0.0,
        help="""
The weight of the placement key ``#LOAD`` of the cloud, whose value is 0.

A host has its cpus' load, from 0 to 1, where its nova-compute has
``compute_monitors = cpu.virt_driver``, else 0. A positive weight prefers hosts
with less of it; 0 leaves the key out.
"""),
    cfg.IntOpt(
        'msav_steps',
        default=10,
        min=1,
        help="""
How many rounds the affinity algorithm makes; the thresholds fall evenly from
``initial_msav`` to ``final_msav``, and a single round has ``initial_msav``.
Of fewer rounds more is decided by customers' keys.
"""),
    cfg.ListOpt(
        'placement_key_levels',
        item_type=types.String(choices=['volume_type', 'network', 'port']),
        default=[],
        help="""
What else than image, flavor and server may have placement keys: any of
``volume_type``, ``network`` and ``port``.

Each one costs a launch a call of Cinder or Neutron in nova-api, and only a
launch with such a device: list those on which there are keys. The type is that
of the volume that the server boots from, network and port are the first that
the request names; a port whose network is asked for costs the call for the
port too. A launch is answered with 503 while the service does not answer.

* ``volume_type``: extra specs ``pcloud:system_key:<NAME>`` and
  ``pcloud:customer_key:<NAME>``. nova-api reads them as the user of the
  section ``[cinder]``, who needs the role that Cinder shows all extra specs to
  (admin).
* ``network``: tags ``pcloud_customer_key_<NAME>=VALUE:WEIGHT``, and of
  ``system_key_network_projects`` also ``pcloud_system_key_<NAME>=...``.
* ``port``: tags ``pcloud_customer_key_<NAME>=VALUE:WEIGHT``.
"""),
    cfg.FloatOpt(
        'ram_contention_weight',
        default=0.0,
        help="""
The weight of the placement key ``#RAM`` of the cloud, whose value is 0.

A host has the share of its memory that is given out, from 0 to 1. A positive
weight prefers hosts with less of it, a negative one those with more; 0 leaves
the key out. Policies, flavors and images override it.
"""),
    cfg.ListOpt(
        'system_key_image_projects',
        default=[],
        help="""
Ids of the projects whose images may carry system placement keys although they
are not public: those of administrators. Anybody can set any property on an
image of their own, so the keys of other images are left out.
"""),
    cfg.ListOpt(
        'system_key_network_projects',
        default=[],
        help="""
Ids of the projects whose networks may carry system placement keys: those of
administrators. Anybody can set any tag on a network of their own, so the
system keys of other networks are left out.

Related options:

* ``placement_key_levels``, which has to list ``network``
"""),
]
