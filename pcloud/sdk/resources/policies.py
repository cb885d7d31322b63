# SPDX-License-Identifier: Apache-2.0

"""The policies of scopes."""

from openstack import resource

from pcloud.sdk.resources import base


class Policy(base.Resource):
    """The policy for the servers of a scope."""

    resource_key = 'policy'
    base_path = '/os-pcloud-policies/%(scope)s'

    allow_fetch = True
    allow_commit = True
    allow_delete = True

    #: "cloud", "domain", "project", "pcloud" or "role".
    scope = resource.URI('scope')
    #: Placement keys, each as NAME=VALUE:WEIGHT.
    customer_keys = resource.Body('customer_keys', type=list)
    #: Placement keys, each as NAME=VALUE:WEIGHT. Admin.
    system_keys = resource.Body('system_keys', type=list)
    #: Machine constraints, such as "ram=2G rack=r1".
    constraints = resource.Body('constraints')
    #: The effective constraints, each with "key", "value" and "source".
    effective = resource.Body('effective', type=list)
    #: The default Pcloud: "pcloud", "mode" and how the Pcloud grows.
    default_pcloud = resource.Body('default_pcloud', type=dict)
    #: The scope that has set the default, or None.
    default_pcloud_source = resource.Body('default_pcloud_source')
    #: The share of a project in waiting lists. Admin.
    share = resource.Body('share', type=float)
    #: What to know of a default that was set, or None.
    warning = resource.Body('warning')
