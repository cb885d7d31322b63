# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""From a host flavor to a server on a host of one's own."""

from pcloud.sandbox import narrator
from pcloud.sandbox.stories import servers

POOL = ('node-1', 'node-2')


def tell(teller: narrator.Narrator) -> None:
    """Tell the story.

    :raises: `narrator.PromiseBroken` at the first step that goes wrong
    """
    _fill_the_pool(teller)
    pcloud, host = _get_a_host(teller)
    _use_pcloud(teller, pcloud, host)
    _conclude(teller, host)


def _fill_the_pool(teller: narrator.Narrator) -> None:
    teller.say("""An administrator defines a host flavor: a kind of host
        that tenants can have for themselves, and what one costs in units of
        quota.""")
    teller.run('admin', 'openstack host flavor create gpu --units 2 '
                        '--description "10 cpus, 8 GiB, fast cards"')
    teller.say("""Two hosts go into its pool. They have to be empty and
        disabled, so that nobody's server comes in between; the pool enables
        them again, and from then on nobody's server is placed there.""")
    for host in POOL:
        teller.run('admin', 'openstack compute service set --disable '
                            f'{host} nova-compute')
        teller.run('admin', f'openstack host flavor host add gpu {host}')
    shown = teller.run('admin', 'nova host-flavor-show gpu')
    teller.promise(all(host in shown for host in POOL),
                   'node-1 and node-2 are in the pool of gpu')


def _get_a_host(teller: narrator.Narrator) -> tuple[str, str]:
    teller.say("""Alice is an ordinary user of an ordinary project. She sees
        which kinds of host there are and how many are free where, but no
        real host.""")
    listed = teller.run('alice', 'openstack host flavor list')
    teller.promise('gpu' in listed and 'node-' not in listed,
                   'Alice sees host flavors and no host names')
    teller.say('She makes a Pcloud, and takes a host into it.')
    made = teller.run('alice', 'nova pcloud-create shop')
    pcloud = narrator.row(made, 'id')
    teller.run('alice', 'openstack pcloud host add shop web1 '
                        '--host-flavor gpu')
    teller.say('A new host is disabled until its owner says otherwise.')
    teller.run('alice', 'nova pcloud-host-enable shop web1')
    shown = teller.run('alice', 'openstack pcloud host list shop')
    teller.promise('web1' in shown and 'node-' not in shown,
                   'the host is hers, under the name web1')
    teller.say('Only the administrator can tell which one it is.')
    shown = teller.run('admin', f'openstack pcloud host show {pcloud} web1')
    host = narrator.row(shown, 'hypervisor_hostname')
    teller.promise(host in POOL, f'web1 is {host}')
    return pcloud, host


def _use_pcloud(teller: narrator.Narrator, pcloud: str, host: str) -> None:
    teller.say('Alice boots one server with the hint, and one without.')
    teller.run('alice', f'{servers.BOOT} --hint pcloud={pcloud} inside')
    teller.run('alice', f'{servers.BOOT} outside')
    shown = teller.run('alice', 'nova pcloud-host-show shop web1')
    server = narrator.row(teller.run(
        'alice', 'openstack server show inside -c id -c status'), 'id')
    teller.promise(server in shown, 'the server "inside" runs on web1')
    teller.say("""Bob's project is not a tenant of Alice's Pcloud. He has
        got hold of its id, and tries.""")
    teller.fails('bob', f'{servers.BOOT} --hint pcloud={pcloud} intruder')
    missing = teller.fails('bob', f'openstack pcloud show {pcloud}')
    teller.promise(pcloud in missing and 'alice' not in missing,
                   "to him Alice's Pcloud does not exist")


def _conclude(teller: narrator.Narrator, host: str) -> None:
    teller.say('What became of the three servers:')
    inside = servers.status_and_host(teller, 'inside')
    outside = servers.status_and_host(teller, 'outside')
    intruder = teller.run(
        'bob', 'openstack server show intruder -c name -c status -c fault')
    teller.promise(
        inside == ('ACTIVE', host),
        f'inside is ACTIVE on {host}, the host of the Pcloud')
    teller.promise(
        outside[0] == 'ACTIVE' and outside[1] not in POOL,
        f'outside is ACTIVE on {outside[1]}, which is in no pool')
    teller.promise(
        narrator.row(intruder, 'status') == 'ERROR' and
        'No valid host was found' in intruder,
        'intruder is in ERROR: no valid host for a project that is not a '
        'tenant')
