# SPDX-License-Identifier: Apache-2.0

"""Services that are deployed together, on one host, and taken away."""

import json

from pcloud_sandbox import narrator
from pcloud_sandbox.stories import hosts
from pcloud_sandbox.stories import servers

DEPLOY = 'openstack pcloud service deploy'
PLAIN = '--image cirros --flavor m1.tiny'
AGENT = '--image cirros --flavor agent'


def tell(teller: narrator.Narrator) -> None:
    """Tell the story.

    :raises: `narrator.PromiseBroken` at the first step that goes wrong
    """
    teller.say("""What ships logs or brings storage belongs on the host of the
        server that it is for. The operator offers a flavor for such helpers.
        """)
    teller.run('admin', 'openstack flavor create --vcpus 1 --ram 256 --disk 1 '
                        '--property pcloud:co_located=allow agent')
    _refusals(teller)
    _together(teller)
    hosts.draw(teller)
    _afterwards(teller)
    hosts.draw(teller)
    _everywhere(teller)
    hosts.draw(teller)
    _away(teller)


def _listed(teller: narrator.Narrator, options: str = '') -> list[dict]:
    return json.loads(teller.run(
        'alice', f'openstack pcloud service list {options} -f json'))


def _launched(teller: narrator.Narrator, name: str) -> tuple[str, str]:
    """Return the time of a server's start, and the id of the host."""
    shown = json.loads(teller.run(
        'alice', f'openstack server show {name} -f json -c hostId '
                 '-c OS-SRV-USG:launched_at'))
    return shown['OS-SRV-USG:launched_at'], shown['hostId']


def _refusals(teller: narrator.Narrator) -> None:
    teller.say('What cannot be is said before anything is created.')
    for user, command, expected in (
            ('alice', f'{DEPLOY} x {PLAIN} --with y=cirros:m1.tiny', 'y'),
            ('alice', f'{DEPLOY} x {PLAIN} --with y=nothing:agent',
             'nothing'),
            # How much is free outside of Pclouds is told to operators alone.
            ('admin', f'{DEPLOY} x {PLAIN} --count 999', 'no capacity'),
            ('alice', f'{DEPLOY} y {AGENT} --in-service x', 'x')):
        refused = teller.fails(user, command)
        teller.promise(
            expected in refused and refused.count('\n') == 1 and
            'building' not in refused, f'it is refused: {refused.strip()}')
    teller.promise(_listed(teller, '--all') == [], 'there is no server')


def _together(teller: narrator.Narrator) -> None:
    teller.say('One command starts a server after its two helpers.')
    teller.run('alice', f'{DEPLOY} x {PLAIN} --with y=cirros:agent '
                        '--with z=cirros:agent')
    (first, first_host), (second, other), (last, host) = (
        _launched(teller, name) for name in 'yzx')
    teller.promise(first <= second <= last and first < last,
                   f'y, z and x were started in this order: {first}, '
                   f'{second}, {last}')
    teller.promise(first_host == other == host, 'they are on one host')


def _afterwards(teller: narrator.Narrator) -> None:
    teller.say('Another helper comes later.')
    teller.run('alice', f'{DEPLOY} logs {AGENT} --in-service x')
    parent, helper = (_launched(teller, name) for name in ('x', 'logs'))
    teller.promise(parent[0] <= helper[0] and parent[1] == helper[1],
                   'it was started after x, on the same host')
    teller.promise(
        [row['Service'] for row in _listed(teller) if row['ID']] == ['x'],
        'helpers are not among the units in the list')
    rows = _listed(teller, '--all')
    parents = {row['Parent'] for row in rows[1:]}
    teller.promise(
        [row['Service'] for row in rows] == ['x', 'logs', 'y', 'z'] and
        parents == {rows[0]['ID']}, 'with --all they are under their parent')
    teller.run('alice', 'openstack pcloud service show x')


def _everywhere(teller: narrator.Narrator) -> None:
    teller.say('A helper can be wherever the service is, now and later.')
    teller.run('alice', f'{DEPLOY} shipper {AGENT} --scale-with x')
    away = ' '.join(f'--hint far={row["ID"]}'
                    for row in _listed(teller) if row['ID'])
    teller.run('alice', f'{servers.CREATE} --hint service=x {away} x-2')
    of_x = {_launched(teller, name)[1] for name in ('x', 'x-2')}
    teller.say('The worker of the cloud sees to that.')
    teller.run('alice', 'until openstack server show shipper-1 -f value '
                        '-c status 2>/dev/null | grep ACTIVE; do sleep 1; '
                        'done')
    again = teller.run('alice', 'openstack pcloud service sync shipper')
    shown = json.loads(teller.run(
        'alice', 'openstack server list --name shipper -f json -c ID'))
    places = {_launched(teller, row['ID'])[1] for row in shown}
    teller.promise(
        places == of_x and len(shown) == len(of_x) and
        'Nothing to change' in again, 'each host of x has one shipper')


def _away(teller: narrator.Narrator) -> None:
    teller.say('A service is stopped before its helpers, and then deleted.')
    output = teller.run('alice', 'openstack pcloud service undeploy x')
    stopped = [line.split(':')[0] for line in output.splitlines()
               if line.endswith(': stopped')]
    teller.promise(
        {'x', 'x-2'} == set(stopped[:2]) and
        {'y', 'z', 'logs'} < set(stopped[2:]), f'in this order: {stopped}')
    teller.promise(_listed(teller, '--all') == [], 'nothing is left')
