# SPDX-License-Identifier: Apache-2.0

"""From a host flavor to a server on a host of one's own."""

from pcloud_sandbox import narrator
from pcloud_sandbox.stories import cost
from pcloud_sandbox.stories import draining
from pcloud_sandbox.stories import hosts

POOL = ('node-1', 'node-2')
CREATE = ('openstack server create --flavor m1.small --image cirros '
          '--wait -f yaml -c id -c status')


def tell(teller: narrator.Narrator) -> None:
    """Tell the story.

    :raises: `narrator.PromiseBroken` at the first step that goes wrong
    :raises: `errors.SandboxError` when an API refuses or does not answer
    """
    _fill_the_pool(teller)
    pcloud, host = _get_a_host(teller)
    _use_pcloud(teller, pcloud, host)
    draining.tell(teller, POOL, host)
    _count_the_cost(teller)


def _fill_the_pool(teller: narrator.Narrator) -> None:
    teller.open_chapter('1. The operator makes a pool')
    teller.say("""An administrator defines a host flavor: a kind of host
        that tenants can have for themselves, and what one costs in units of
        quota.""")
    teller.run('admin', 'openstack host flavor create gpu --units 2 '
                        '-f yaml -c id -c units')
    teller.say("""Two hosts go into its pool. They have to be empty and
        disabled. The pool enables them again, and from then on nobody's
        server is placed there.""")
    for host in POOL:
        teller.run('admin', 'openstack compute service set --disable '
                            f'{host} nova-compute')
        teller.run('admin', f'openstack host flavor host add gpu {host}')
    teller.say('The hosts, as the administrator sees them, and for whom:')
    found = hosts.draw(teller)
    teller.promise(all(found[host].pool == 'gpu' for host in POOL),
                   'node-1 and node-2 are in the pool of gpu')


def _get_a_host(teller: narrator.Narrator) -> tuple[str, str]:
    teller.open_chapter('2. Alice takes a host')
    teller.say("""Alice is an ordinary user of an ordinary project. She sees
        which kinds of host there are and how many are free where, but no
        real host.""")
    listed = teller.run('alice', 'openstack host flavor list '
                                 '-c ID -c Units -c Available')
    teller.promise('gpu' in listed and 'node-' not in listed,
                   'Alice sees host flavors and no host names')
    teller.say('She makes a Pcloud, and takes a host into it.')
    made = teller.run('alice', 'openstack pcloud create shop '
                               '-f yaml -c id -c name')
    teller.run('alice', 'openstack pcloud host add shop web1 '
                        '--host-flavor gpu -f yaml -c name -c state')
    teller.say("""A new host is disabled until its owner says otherwise. Alice
        does so with nova, the older command line that many scripts call.""")
    teller.run('alice', 'nova pcloud-host-enable shop web1')
    shown = teller.run('alice', 'openstack pcloud host list shop '
                                '-c Name -c "Host Flavor" -c State')
    teller.promise('web1' in shown and 'node-' not in shown,
                   'the host is hers, under the name web1')
    teller.say('Only the administrator can tell which one it is.')
    taken = {name: host for name, host in hosts.draw(teller).items()
             if host.pcloud == 'shop of alice'}
    teller.promise(
        len(taken) == 1 and set(taken) < set(POOL) and
        {host.alias for host in taken.values()} == {'web1'},
        f'web1 is {", ".join(taken)}')
    host, = taken
    return narrator.member(made, 'id'), host


def _use_pcloud(teller: narrator.Narrator, pcloud: str, host: str) -> None:
    teller.open_chapter('3. Servers inside and outside, and a stranger')
    teller.say("""Alice starts one server with the hint that names her Pcloud,
        and one without.""")
    inside = teller.run(
        'alice', f'{CREATE} --hint pcloud={pcloud} inside')
    outside = teller.run('alice', f'{CREATE} outside')
    shown = teller.run(
        'alice', 'nova pcloud-host-show shop web1 | grep instances')
    teller.promise(narrator.member(inside, 'id') in shown,
                   'the server "inside" runs on web1')
    teller.say("""Orchestrators pass no hints. From now on her servers
        without a hint go to the Pcloud too.""")
    teller.run('alice', 'openstack pcloud default set shop')
    unnamed = teller.run('alice', f'{CREATE} unnamed')
    teller.say("""Bob's project is not a tenant of Alice's Pcloud. He has
        got hold of its id, and tries.""")
    teller.fails('bob', f'{CREATE} --hint pcloud={pcloud} intruder')
    missing = teller.fails('bob', f'openstack pcloud show {pcloud}')
    teller.promise(pcloud in missing and 'alice' not in missing,
                   "to him Alice's Pcloud does not exist")
    intruder = teller.run('bob', 'openstack server show intruder '
                                 '-f value -c status -c fault')
    teller.say('What became of the four servers:')
    place = {server: name for name, found in hosts.draw(teller).items()
             for server in found.servers}
    teller.promise(
        narrator.member(inside, 'status') == 'ACTIVE' and
        place['inside'] == host,
        f'inside is ACTIVE on {host}, the host of the Pcloud')
    teller.promise(
        narrator.member(outside, 'status') == 'ACTIVE' and
        place['outside'] not in POOL,
        f'outside is ACTIVE on {place["outside"]}, which is in no pool')
    teller.promise(
        narrator.member(unnamed, 'status') == 'ACTIVE' and
        place['unnamed'] == host,
        f'unnamed is ACTIVE on {host}: the default Pcloud of the project')
    teller.promise(
        'intruder' not in place and 'ERROR' in intruder.splitlines() and
        'No valid host was found' in intruder,
        'intruder is in ERROR: no valid host for a project that is not a '
        'tenant')


def _count_the_cost(teller: narrator.Narrator) -> None:
    teller.open_chapter('5. What it would have cost')
    teller.say("""A project pays units for the hosts of its Pclouds, from the
        call that gets a host to the call that gives it back, however many
        servers run there. Alice asks, then the administrator, for all.""")
    shown = teller.run('alice', 'openstack pcloud quota show '
                                '-f yaml -c units_in_use -c units_limit')
    teller.promise(
        (narrator.member(shown, 'units_in_use'),
         narrator.member(shown, 'units_limit')) == ('2', '10'),
        "one host of gpu costs Alice's project 2 of its 10 units")
    in_use = cost.show(teller)
    teller.promise(
        {name for name, units in in_use.items() if units} == {'alice'},
        'nobody else pays anything')
    teller.say("""That was the story. README.rst tells how to keep a cloud to
        play with; "tox -e demo -- placement services" tells more.""")
