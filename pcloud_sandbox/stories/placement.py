# SPDX-License-Identifier: Apache-2.0

"""Newer platforms, later reboots, better hardware, near and far."""

from pcloud_sandbox import narrator
from pcloud_sandbox.stories import hosts
from pcloud_sandbox.stories import servers

LEFT, RIGHT = ('node-1', 'node-2', 'node-3'), ('node-4', 'node-5', 'node-6')
SET = 'openstack pcloud attribute set'
UNSET = 'openstack pcloud attribute unset'
STRICT = '--hint locality=strict'


def tell(teller: narrator.Narrator) -> None:
    """Tell the story.

    :raises: `narrator.PromiseBroken` at the first step that goes wrong
    """
    _platforms_and_reboots(teller)
    _hardware(teller)
    _near_and_far(teller)
    _in_a_pcloud(teller)
    hosts.draw(teller)
    _no_host_that_reboots(teller)
    hosts.draw(teller)


def _hosts(*names: str) -> str:
    return ' '.join(f'--host {name}' for name in names)


def _lands_on(teller: narrator.Narrator, options: str, *names: str) -> str:
    """Boot a server, check that an expected host runs the server.

    :param options: arguments of CREATE; the last is the server's name
    :param names: names of the expected hosts
    :returns: the name of the server's host
    """
    teller.run('alice', f'{servers.CREATE} {options}')
    name = options.split()[-1]
    status, host = servers.status_and_host(teller, name)
    teller.promise(status == 'ACTIVE' and host in names,
                   f'{name} is {status} on {host}')
    return host


def _platforms_and_reboots(teller: narrator.Narrator) -> None:
    teller.say("""The operator tells which hosts run the newest platform. A
        server that is put there now need not be moved when the others are
        brought up to date.""")
    teller.run('admin', f'{SET} platform_version 20260201T000000Z '
                        f'{_hosts(*LEFT, "node-4")}')
    teller.run('admin', f'{SET} platform_version 20261101T000000Z '
                        f'{_hosts("node-5", "node-6")}')
    _lands_on(teller, 'modern', 'node-5', 'node-6')
    teller.say("""One of the two is going to be rebooted, so it comes
        second.""")
    teller.run('alice', 'openstack server delete --wait modern')
    teller.run('admin', f'{SET} next_reboot "$(date -u -d "+2 days" '
                        f'+%Y-%m-%dT%H:%M:%SZ)" {_hosts("node-5")}')
    _lands_on(teller, 'lasting', 'node-6')
    refused = teller.fails(
        'admin', f'{SET} platform_version 2.10 {_hosts("node-1")}')
    teller.promise('cannot be compared' in refused,
                   'stamps and versions are not mixed')
    teller.run('alice', 'openstack server delete --wait lasting')
    teller.run('admin', f'{UNSET} platform_version')


def _hardware(teller: narrator.Narrator) -> None:
    teller.say('Better hardware is preferred likewise.')
    teller.run('admin', f'{SET} hardware_class 9.5 {_hosts("node-3")}')
    _lands_on(teller, 'fast', 'node-3')
    teller.run('alice', 'openstack server delete --wait fast')
    teller.run('admin', f'{UNSET} hardware_class')


def _near_and_far(teller: narrator.Narrator) -> None:
    teller.say("""Racks can be told by an aggregate that the operator has
        anyway.""")
    for rack, names in (('left', LEFT), ('right', RIGHT)):
        teller.run('admin', f'openstack aggregate create {rack}-rack '
                            f'--property pcloud:attr:rack={rack}')
        for host in names:
            teller.run('admin',
                       f'openstack aggregate add host {rack}-rack {host}')
    teller.say("""Alice starts two databases that must not go down together,
        and an application as near to one as can be.""")
    first = _lands_on(teller, '--tag database db-1', *LEFT, *RIGHT)
    other = RIGHT if first in LEFT else LEFT
    second = _lands_on(
        teller, f'--tag database --hint far=tag:database {STRICT} db-2',
        *other)
    _lands_on(teller, '--hint near=tag:database web-1', first, second)
    teller.say('In two racks at once a server cannot be, and is told so.')
    ids = [teller.run('alice', f'openstack server show {name} -f value '
                               '-c id').strip() for name in ('db-1', 'db-2')]
    near = ' '.join(f'--hint near={server_id}' for server_id in ids)
    teller.fails('alice', f'{servers.CREATE} {near} {STRICT} torn')
    fault = teller.run(
        'alice', 'openstack server show torn -f value -c fault')
    teller.promise('Strict locality cannot be kept' in fault,
                   'the fault names the locality')
    hosts.draw(teller)
    for name in ('db-1', 'db-2', 'web-1', 'torn'):
        teller.run('alice', f'openstack server delete --wait {name}')


def _in_a_pcloud(teller: narrator.Narrator) -> None:
    teller.say("""The owner of a Pcloud sees when its hosts are rebooted, and
        which of them share a rack, but not the name of the rack.""")
    teller.run('admin', 'openstack host flavor create gpu --units 1')
    for host in ('node-1', 'node-2', 'node-5'):
        teller.run('admin', 'openstack compute service set --disable '
                            f'{host} nova-compute')
        teller.run('admin', f'openstack host flavor host add gpu {host}')
    teller.run('alice', 'openstack pcloud create shop')
    teller.run('alice', 'openstack pcloud host add shop web --count 3 '
                        '--host-flavor gpu')
    shown = teller.run('alice', 'openstack pcloud host list shop -f value '
                                '-c Rack -c "Next Reboot"')
    rows = sorted(line.split() for line in shown.splitlines())
    racks = sorted(row[-1] for row in rows)
    teller.promise(
        racks in (['1', '1', '2'], ['1', '2', '2']) and
        sum(row[0] != 'None' for row in rows) == 1 and
        'left' not in shown and 'right' not in shown,
        'two hosts share a rack, and one is going to be rebooted')


def _no_host_that_reboots(teller: narrator.Narrator) -> None:
    teller.say("""Where a preference is not enough, nova-scheduler keeps
        servers off hosts that are rebooted within some days.""")
    teller.run('', 'printf "\\n[pcloud]\\nreboot_filter_days = 3\\n" >> '
                   '"$PCLOUD_SANDBOX_DIR/etc/nova.conf" && '
                   'pcloud-sandbox stop nova && pcloud-sandbox start nova')
    pcloud = teller.run(
        'alice', 'openstack pcloud show shop -f value -c id').strip()
    for number in (1, 2, 3):
        teller.run('alice', f'openstack pcloud host set shop web-{number} '
                            '--enable')
    for number in (1, 2, 3):
        _lands_on(teller, f'--hint pcloud={pcloud} calm-{number}',
                  'node-1', 'node-2')
