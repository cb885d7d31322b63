#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

"""Make a host be in a Pcloud or not."""

DOCUMENTATION = r'''
module: pcloud_host
short_description: Add a host to a Pcloud, change it, or give it back
description:
  - Makes a Pcloud have a host of a name. A host that is there keeps its host
    flavor and zone, whatever the playbook says of them.
options:
  pcloud:
    description: The name or the id of the Pcloud.
    type: str
    required: true
  name:
    description: The name of the host in the Pcloud.
    type: str
    required: true
  state:
    description:
      - V(enabled) takes servers, V(disabled) does not, and V(spare) does once
        another host is away. V(absent) drains the host, and waits until the
        host has left the Pcloud. V(present) leaves the state as it is.
    type: str
    choices: [present, enabled, disabled, spare, absent]
    default: present
  host_flavor:
    description: The host flavor of a new host.
    type: str
  constraints:
    description: What a new host must have, such as V(ram=64G).
    type: str
  availability_zone:
    description: The zone of a new host.
    type: str
  until:
    description: When a new host leaves again, in ISO 8601.
    type: str
  move:
    description: Which servers are moved off an absent host.
    type: str
    choices: [none, live, any]
    default: none
  timeout:
    description: The most seconds to wait for an absent host to be empty.
    type: int
    default: 3600
author: The Pcloud developers (!UNKNOWN)
extends_documentation_fragment: openstack_pcloud.pcloud.cloud
'''

EXAMPLES = r'''
- name: A host for the web
  openstack_pcloud.pcloud.pcloud_host:
    pcloud: render-farm
    name: web
    host_flavor: gold
    state: enabled

- name: No host for the web
  openstack_pcloud.pcloud.pcloud_host:
    pcloud: render-farm
    name: web
    state: absent
    move: live
'''

RETURN = r'''
host:
  description: The host.
  returned: when there is a host
  type: dict
'''

from ansible_collections.openstack_pcloud.pcloud.plugins.module_utils import (
    connecting)

_OF_NEW = ('host_flavor', 'constraints', 'availability_zone', 'until')


def make_true(module, conn):
    """Make the host be as the playbook says."""
    params = module.params
    if params['state'] == 'absent':
        return _absent(module, conn)
    pcloud = connecting.find_pcloud(conn, params['pcloud'])
    if pcloud is None and not module.check_mode:
        connecting.need_pcloud(conn, params['pcloud'])
    there = pcloud and _find(conn, pcloud, params['name'])
    before = connecting.shown(there)
    if there is None:
        new = {'name': params['name'], **connecting.wanted(params, _OF_NEW)}
        if module.check_mode:
            return connecting.answer('host', {}, new, True)
        there = conn.pcloud.add_host(pcloud, **new)
    state = params['state']
    changes = {} if state in ('present', there.state) else {'state': state}
    if changes and not module.check_mode:
        there = conn.pcloud.update_host(there, **changes)
    after = {**connecting.shown(there), **changes}
    return connecting.answer('host', before, after,
                             bool(changes) or not before)


def _find(conn, pcloud, name):
    # Letter case does not tell names apart.
    return next((host for host in conn.pcloud.hosts(pcloud)
                 if host.name.lower() == name.lower()), None)


def _absent(module, conn):
    params = module.params
    pcloud = connecting.find_pcloud(conn, params['pcloud'])
    there = pcloud and _find(conn, pcloud, params['name'])
    if not there:
        return connecting.answer('host', {}, {}, False)
    before = connecting.shown(there)
    if not module.check_mode:
        conn.pcloud.drain_host(there, move=params['move'], release=True)
        conn.pcloud.wait_for_drain(there, wait=params['timeout'])
    return connecting.answer('host', before, {}, True)


def main():
    """Run the module."""
    connecting.run({
        'pcloud': {'type': 'str', 'required': True},
        'name': {'type': 'str', 'required': True},
        'state': {'type': 'str', 'default': 'present', 'choices': [
            'present', 'enabled', 'disabled', 'spare', 'absent']},
        'host_flavor': {'type': 'str'},
        'constraints': {'type': 'str'},
        'availability_zone': {'type': 'str'},
        'until': {'type': 'str'},
        'move': {'type': 'str', 'default': 'none',
                 'choices': ['none', 'live', 'any']},
        'timeout': {'type': 'int', 'default': 3600},
    }, make_true, mutually_exclusive=[('host_flavor', 'constraints')])


if __name__ == '__main__':
    main()
