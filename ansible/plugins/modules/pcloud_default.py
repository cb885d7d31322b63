#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

"""Set where servers go that name no Pcloud."""

DOCUMENTATION = r'''
module: pcloud_default
short_description: Set the default Pcloud of a project, a domain or the cloud
description:
  - Sets where servers go that name no Pcloud. Without O(project), O(domain)
    and O(all_projects) the default is for the project of the caller.
options:
  pcloud:
    description:
      - The name or the id of the Pcloud. Needed for a default that is present.
    type: str
  mode:
    description: Whether such servers start in the Pcloud alone.
    type: str
    choices: [strict, prefer, grow]
    default: strict
  host_flavor:
    description: The host flavor of hosts that join, with O(mode=grow).
    type: str
  max_hosts:
    description: The most hosts of the Pcloud then, with O(mode=grow).
    type: int
  availability_zone:
    description: The zone of hosts that join, with O(mode=grow).
    type: str
  project:
    description: The name or the id of another project. Admin.
    type: str
  domain:
    description:
      - With O(project), the domain of the project. Alone, the domain whose
        projects get the default. Admin.
    type: str
  all_projects:
    description: The default of the cloud. Admin.
    type: bool
    default: false
  state:
    description:
      - V(absent) sends the servers outside of Pclouds, whatever the domain and
        the cloud have set.
    type: str
    choices: [present, absent]
    default: present
author: The Pcloud developers (!UNKNOWN)
extends_documentation_fragment: openstack_pcloud.pcloud.cloud
'''

EXAMPLES = r'''
- name: All servers of the project prefer the Pcloud
  openstack_pcloud.pcloud.pcloud_default:
    pcloud: render-farm
    mode: prefer
'''

RETURN = r'''
default:
  description: The default Pcloud, with C(pcloud) and C(mode).
  returned: always
  type: dict
warning:
  description: For how many projects the default does not count.
  returned: when there is something to know
  type: str
'''

from ansible_collections.openstack_pcloud.pcloud.plugins.module_utils import (
    connecting)

_GROWTH = ('host_flavor', 'max_hosts', 'availability_zone')


def make_true(module, conn):
    """Make the default be as the playbook says."""
    params = module.params
    scope, scope_id = _scope(conn, params)
    there = conn.pcloud.get_default_pcloud(scope, scope_id)
    own = there.default_pcloud_source == scope
    before = (there.default_pcloud or {}) if own else {}
    after, pcloud = {}, None
    if params['state'] == 'present':
        pcloud = connecting.find_pcloud(conn, params['pcloud'])
        if pcloud is None and not module.check_mode:
            connecting.need_pcloud(conn, params['pcloud'])
        after = {'pcloud': pcloud and pcloud.id, 'mode': params['mode'],
                 **connecting.wanted(params, _GROWTH)}
    given = {name: value for name, value in before.items()
             if value is not None}
    changed = not own or given != after
    found = connecting.answer('default', before, after, changed)
    if changed and not module.check_mode:
        policy = conn.pcloud.set_default_pcloud(
            pcloud, params['mode'], scope=scope, scope_id=scope_id,
            **(connecting.wanted(params, _GROWTH) if pcloud else {}))
        if policy.warning:
            module.warn(policy.warning)
            found['warning'] = policy.warning
    return found


def _scope(conn, params):
    if params['all_projects']:
        return 'cloud', 'default'
    if params['project']:
        return 'project', connecting.need_project(
            conn, params['project'], params['domain'])
    if params['domain']:
        return 'domain', conn.identity.find_domain(
            params['domain'], ignore_missing=False).id
    return 'project', conn.pcloud.get_project_id()


def main():
    """Run the module."""
    connecting.run({
        'pcloud': {'type': 'str'},
        'mode': {'type': 'str', 'default': 'strict',
                 'choices': ['strict', 'prefer', 'grow']},
        'host_flavor': {'type': 'str'},
        'max_hosts': {'type': 'int'},
        'availability_zone': {'type': 'str'},
        'project': {'type': 'str'},
        'domain': {'type': 'str'},
        'all_projects': {'type': 'bool', 'default': False},
        'state': {'type': 'str', 'default': 'present',
                  'choices': ['present', 'absent']},
    }, make_true, required_if=[
        ('state', 'present', ['pcloud']),
        ('mode', 'grow', ['host_flavor', 'max_hosts'])],
        mutually_exclusive=[('project', 'all_projects'),
                            ('domain', 'all_projects')])


if __name__ == '__main__':
    main()
