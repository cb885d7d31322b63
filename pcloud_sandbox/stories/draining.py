# SPDX-License-Identifier: Apache-2.0

"""A host that is emptied while its servers run, and given back."""

from pcloud_sandbox import narrator
from pcloud_sandbox.stories import hosts

_DRAIN = 'openstack pcloud host drain shop web1 --move live --release'
_NAMES = 'openstack pcloud host list shop -f value -c Name'
_IDS = 'openstack server list -f value -c ID -c Name | sort'


def tell(teller: narrator.Narrator, pool: tuple[str, ...], host: str) -> None:
    """Tell how Alice exchanges the host web1 for another one.

    :param pool: the hosts of the pool, both of which she may have
    :param host: the real name of web1
    :raises: `narrator.PromiseBroken` at the first step that goes wrong
    """
    teller.open_chapter('4. A host is emptied and given back')
    teller.say("""Alice wants to give web1 back, and her servers to go on
        running. She takes another host for them, and asks what would
        happen. One of the servers is locked, for she trusts nobody.""")
    teller.run('alice', 'openstack server lock inside')
    teller.run('alice', 'openstack pcloud host add shop web2 '
                        '--host-flavor gpu -f yaml -c name')
    teller.run('alice', 'openstack pcloud host set shop web2 --enable')
    before = teller.run('alice', _IDS)
    trial = teller.run('alice', f'{_DRAIN} --dry-run')
    teller.promise('would be moved, for example to web2' in trial and
                   'would stay: it is locked' in trial,
                   'she is told beforehand what would move, and what would '
                   'not, and why')
    teller.run('alice', _DRAIN)
    shown = teller.run('alice', 'openstack pcloud host show shop web1 '
                                '-f yaml -c state -c drain')
    teller.promise('rule: locked' in shown,
                   'web1 is draining, and names its blocker')
    teller.say("""Nothing is forced: the locked server stays where it is until
        she unlocks it. Nova moves it then, and web1 leaves the Pcloud by
        itself.""")
    teller.run('alice', 'openstack server unlock inside')
    teller.run('alice', f'while {_NAMES} | grep -q web1; do sleep 2; done')
    there = {server: name for name, found in hosts.draw(teller).items()
             for server in found.servers}
    other, = set(pool) - {host}
    teller.promise((there['inside'], there['unnamed']) == (other, other),
                   f'both of her servers run on {other}, which is web2')
    teller.promise(teller.run('alice', _IDS) == before,
                   'they are the same servers as before')
