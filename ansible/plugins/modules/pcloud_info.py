#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

"""Tell what there is of Pclouds."""

DOCUMENTATION = r'''
module: pcloud_info
short_description: Tell which Pclouds there are, with hosts and tenants
description:
  - Lists Pclouds, and with O(name) the hosts and tenants of one of them.
options:
  name:
    description: The name or the id of a Pcloud.
    type: str
  all_projects:
    description: The Pclouds of every project. Admin.
    type: bool
    default: false
author: The Pcloud developers (!UNKNOWN)
extends_documentation_fragment: openstack_pcloud.pcloud.cloud
'''

EXAMPLES = r'''
- name: What there is
  openstack_pcloud.pcloud.pcloud_info:
    name: render-farm
  register: found
'''

RETURN = r'''
pclouds:
  description: The Pclouds, with C(free).
  returned: always
  type: list
  elements: dict
hosts:
  description: The hosts of the named Pcloud.
  returned: when a Pcloud is named, and is there
  type: list
  elements: dict
tenants:
  description: The tenants of the named Pcloud.
  returned: when a Pcloud is named, and is there
  type: list
  elements: dict
'''

from ansible_collections.openstack_pcloud.pcloud.plugins.module_utils import (
    connecting)


def make_true(module, conn):
    """Return what there is."""
    name = module.params['name']
    if name is None:
        return {'changed': False, 'pclouds': [
            connecting.shown(each) for each in conn.pcloud.pclouds(
                details=True, all_projects=module.params['all_projects'])]}
    found = connecting.find_pcloud(conn, name)
    if found is None:
        return {'changed': False, 'pclouds': []}
    return {'changed': False,
            'pclouds': [connecting.shown(found)],
            'hosts': [connecting.shown(each)
                      for each in conn.pcloud.hosts(found)],
            'tenants': [connecting.shown(each)
                        for each in conn.pcloud.tenants(found)]}


def main():
    """Run the module."""
    connecting.run({
        'name': {'type': 'str'},
        'all_projects': {'type': 'bool', 'default': False},
    }, make_true)


if __name__ == '__main__':
    main()
