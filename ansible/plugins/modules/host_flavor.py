#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

"""Make a host flavor and its pool be as a playbook says."""

DOCUMENTATION = r'''
module: host_flavor
short_description: Create, change or delete a host flavor, and fill its pool
description:
  - Makes a host flavor be there, with hosts in its pool, or not be there. For
    administrators.
options:
  id:
    description: The id of the host flavor.
    type: str
    required: true
  description:
    description: What the hosts are.
    type: str
  units:
    description: The units of a host. Needed for a new host flavor.
    type: int
  price:
    description: What a host costs an hour, as a text; V('') for no price.
    type: str
  hosts:
    description:
      - The names of compute services that are to be in the pool; all of them
        enter, or none. Other hosts of the pool stay there.
      - Hosts that enter have to be empty. Their compute services are disabled
        for that, and enabled again.
    type: list
    elements: str
  state:
    description: V(absent) also takes the hosts out of the pool.
    type: str
    choices: [present, absent]
    default: present
author: The Pcloud developers (!UNKNOWN)
extends_documentation_fragment: openstack_pcloud.pcloud.cloud
'''

EXAMPLES = r'''
- name: Offer two hosts
  openstack_pcloud.pcloud.host_flavor:
    cloud: mycloud-admin
    id: gold
    units: 4
    hosts: [compute-1, compute-2]
'''

RETURN = r'''
host_flavor:
  description: The host flavor.
  returned: when there is a host flavor
  type: dict
'''

from ansible_collections.openstack_pcloud.pcloud.plugins.module_utils import (
    connecting)

_MEMBERS = ('description', 'units', 'price')


def make_true(module, conn):
    """Make the host flavor be as the playbook says."""
    params = module.params
    there = next((each for each in conn.pcloud.host_flavors()
                  if each.id == params['id']), None)
    before = connecting.shown(there)
    inside = [host.host for host in there.hosts or ()] if there else []
    if params['state'] == 'absent':
        if there and not module.check_mode:
            for host in inside:
                conn.pcloud.remove_pool_host(there, host)
            conn.pcloud.delete_host_flavor(there)
        return connecting.answer('host_flavor', before, {}, bool(there))
    values = connecting.wanted(params, _MEMBERS)
    if values.get('price') == '':
        values['price'] = None
    if there is None and 'units' not in values:
        raise connecting.Refused('A new host flavor needs units')
    changes = connecting.differing(before, values)
    entering = [host for host in params['hosts'] or ()
                if host not in inside]
    if not module.check_mode:
        if there is None:
            conn.pcloud.create_host_flavor(id=params['id'], **values)
        elif changes:
            conn.pcloud.update_host_flavor(params['id'], **changes)
        if entering:
            _enter(conn, params['id'], entering)
    after = {'id': params['id'], **before, **values,
             'hosts': inside + entering}
    return connecting.answer(
        'host_flavor', {**before, 'hosts': inside} if there else {}, after,
        bool(changes or entering) or there is None)


def _enter(conn, flavor, hosts):
    """Put hosts into the pool; what was disabled in vain is enabled."""
    disabled = []
    try:
        for host in hosts:
            for service in conn.compute.services(
                    host=host, binary='nova-compute'):
                if service.status == 'enabled':
                    conn.compute.disable_service(service)
                    disabled.append(service)
        conn.pcloud.add_pool_hosts(flavor, hosts)
    except Exception:
        for service in disabled:
            conn.compute.enable_service(service)
        raise


def main():
    """Run the module."""
    connecting.run({
        'id': {'type': 'str', 'required': True},
        'description': {'type': 'str'},
        'units': {'type': 'int'},
        'price': {'type': 'str'},
        'hosts': {'type': 'list', 'elements': 'str'},
        'state': {'type': 'str', 'default': 'present',
                  'choices': ['present', 'absent']},
    }, make_true)


if __name__ == '__main__':
    main()
