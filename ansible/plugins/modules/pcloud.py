#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

"""Make a Pcloud be there or not."""

DOCUMENTATION = r'''
module: pcloud
short_description: Create, change or delete a Pcloud
description:
  - Makes a Pcloud of the project be there with the given settings, or not be
    there. The name stands for one Pcloud; several Pclouds of the name are an
    error.
options:
  name:
    description: The name or the id of the Pcloud.
    type: str
    required: true
  state:
    description:
      - With V(absent) all hosts are drained and leave the Pcloud first.
    type: str
    choices: [present, absent]
    default: present
  cpu_allocation_ratio:
    description: The ratio of vcpus; 0 for the ratio of the cloud.
    type: float
  ram_allocation_ratio:
    description: The ratio of memory; 0 for the ratio of the cloud.
    type: float
  maintenance_policy:
    description: What happens to servers before a maintenance of a host.
    type: str
    choices: [stay, migrate, replace]
  host_recovery:
    description: What is done for a host that has failed.
    type: str
    choices: ['off', in_place, replace]
  placement:
    description: How the hosts are filled.
    type: str
    choices: [default, pack, spread]
  pin_by_tenants:
    description: Whether other tenants may name the host of a server.
    type: bool
  move:
    description: Which servers are moved off the hosts of an absent Pcloud.
    type: str
    choices: [none, live, any]
    default: none
  timeout:
    description:
      - The most seconds to wait for the hosts of an absent Pcloud to be empty.
    type: int
    default: 3600
author: The Pcloud developers (!UNKNOWN)
extends_documentation_fragment: openstack_pcloud.pcloud.cloud
'''

EXAMPLES = r'''
- name: The Pcloud of the renderers
  openstack_pcloud.pcloud.pcloud:
    cloud: mycloud
    name: render-farm
    maintenance_policy: migrate
'''

RETURN = r'''
pcloud:
  description: The Pcloud.
  returned: when there is a Pcloud
  type: dict
'''

from ansible_collections.openstack_pcloud.pcloud.plugins.module_utils import (
    connecting)

_SETTINGS = ('cpu_allocation_ratio', 'ram_allocation_ratio',
             'maintenance_policy', 'host_recovery', 'placement',
             'pin_by_tenants')
# What the API shows for a setting that nobody has made.
_UNSET = {'maintenance_policy': 'stay', 'host_recovery': 'off',
          'placement': 'default', 'pin_by_tenants': False}


def _settings(params):
    found = connecting.wanted(params, _SETTINGS)
    return {name: None if name.endswith('_ratio') and value == 0 else value
            for name, value in found.items()}


def make_true(module, conn):
    """Make the Pcloud be as the playbook says."""
    params = module.params
    there = connecting.find_pcloud(conn, params['name'])
    if params['state'] == 'absent':
        return _absent(module, conn, there)
    before, settings = connecting.shown(there), _settings(params)
    if there is None:
        if module.check_mode:
            return connecting.answer(
                'pcloud', {}, {'name': params['name'], **settings}, True)
        there = conn.pcloud.create_pcloud(name=params['name'])
    known = {name: _UNSET.get(name) if value is None else value
             for name, value in connecting.shown(there).items()}
    changes = connecting.differing(known, settings)
    if changes and not module.check_mode:
        there = conn.pcloud.update_pcloud(there.id, **changes)
    after = {**connecting.shown(there), **changes}
    return connecting.answer('pcloud', before, after,
                             bool(changes) or not before)


def _absent(module, conn, there):
    if there is None:
        return connecting.answer('pcloud', {}, {}, False)
    before = connecting.shown(there)
    if not module.check_mode:
        hosts = list(conn.pcloud.hosts(there))
        # All are closed before the first server looks for another host.
        for host in hosts:
            conn.pcloud.drain_host(host)
        for host in hosts:
            conn.pcloud.drain_host(host, move=module.params['move'],
                                   release=True)
        for host in hosts:
            conn.pcloud.wait_for_drain(host, wait=module.params['timeout'])
        conn.pcloud.delete_pcloud(there)
    return connecting.answer('pcloud', before, {}, True)


def main():
    """Run the module."""
    connecting.run({
        'name': {'type': 'str', 'required': True},
        'state': {'type': 'str', 'default': 'present',
                  'choices': ['present', 'absent']},
        'cpu_allocation_ratio': {'type': 'float'},
        'ram_allocation_ratio': {'type': 'float'},
        'maintenance_policy': {'type': 'str', 'choices': [
            'stay', 'migrate', 'replace']},
        'host_recovery': {'type': 'str', 'choices': [
            'off', 'in_place', 'replace']},
        'placement': {'type': 'str', 'choices': ['default', 'pack', 'spread']},
        'pin_by_tenants': {'type': 'bool'},
        'move': {'type': 'str', 'default': 'none',
                 'choices': ['none', 'live', 'any']},
        'timeout': {'type': 'int', 'default': 3600},
    }, make_true)


if __name__ == '__main__':
    main()
