#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

"""Make a project be a tenant of a Pcloud or not."""

DOCUMENTATION = r'''
module: pcloud_tenant
short_description: Let a project start servers in a Pcloud
description:
  - Makes a project be a tenant of a Pcloud, with the given caps, or not be a
    tenant.
options:
  pcloud:
    description: The name or the id of the Pcloud.
    type: str
    required: true
  project:
    description:
      - The name or the id of the project; the id where the caller may not look
        projects up.
    type: str
    required: true
  domain:
    description: The domain of the project.
    type: str
  max_servers:
    description: The most servers of the project; -1 for no cap.
    type: int
  max_vcpus:
    description: The most vcpus of the project; -1 for no cap.
    type: int
  max_memory_mb:
    description: The most memory of the project in MiB; -1 for no cap.
    type: int
  state:
    description: Whether the project is a tenant.
    type: str
    choices: [present, absent]
    default: present
author: The Pcloud developers (!UNKNOWN)
extends_documentation_fragment: openstack_pcloud.pcloud.cloud
'''

EXAMPLES = r'''
- name: The film project may use two servers
  openstack_pcloud.pcloud.pcloud_tenant:
    pcloud: render-farm
    project: film
    max_servers: 2
'''

RETURN = r'''
tenant:
  description: The tenant.
  returned: when the project is a tenant
  type: dict
'''

from ansible_collections.openstack_pcloud.pcloud.plugins.module_utils import (
    connecting)

_CAPS = ('max_servers', 'max_vcpus', 'max_memory_mb')


def make_true(module, conn):
    """Make the tenant be as the playbook says."""
    params = module.params
    pcloud = connecting.find_pcloud(conn, params['pcloud'])
    project = connecting.need_project(
        conn, params['project'], params['domain'])
    there = pcloud and next((each for each in conn.pcloud.tenants(pcloud)
                             if each.id == project), None)
    before = connecting.shown(there)
    if params['state'] == 'absent':
        if there and not module.check_mode:
            conn.pcloud.remove_tenant(pcloud, project)
        return connecting.answer('tenant', before, {}, bool(there))
    if pcloud is None and not module.check_mode:
        connecting.need_pcloud(conn, params['pcloud'])
    caps = {name: None if value == -1 else value for name, value
            in connecting.wanted(params, _CAPS).items()}
    changes = connecting.differing(before, caps)
    if not module.check_mode:
        if changes:
            # Caps that the playbook does not name stay as they are.
            conn.pcloud.cap_tenant(pcloud, project, **{
                name: before.get(name) for name in _CAPS} | caps)
        elif not there:
            conn.pcloud.add_tenant(pcloud, project)
    return connecting.answer(
        'tenant', before, {**before, 'id': project, **caps},
        bool(changes) or not there)


def main():
    """Run the module."""
    connecting.run({
        'pcloud': {'type': 'str', 'required': True},
        'project': {'type': 'str', 'required': True},
        'domain': {'type': 'str'},
        'max_servers': {'type': 'int'},
        'max_vcpus': {'type': 'int'},
        'max_memory_mb': {'type': 'int'},
        'state': {'type': 'str', 'default': 'present',
                  'choices': ['present', 'absent']},
    }, make_true)


if __name__ == '__main__':
    main()
