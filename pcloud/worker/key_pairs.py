# SPDX-License-Identifier: Apache-2.0

"""Key pairs that a worker has for the moment in which it starts a server.

Nova gives a server the key pairs of the user that starts the server alone, and
keeps the key with the server. So the worker's user has a copy of the key pair
until Nova has accepted the server.

Rule: reference-worker-follow
"""

from collections.abc import Iterator
import contextlib
import hashlib

from pcloud.backend.cells import started_servers
from pcloud.client.deploy import scaling
from pcloud.client import exceptions
from pcloud.client import servers


@contextlib.contextmanager
def lent(nova: servers.Servers,
         pair: started_servers.KeyPair | None) -> Iterator[str]:
    """Have a copy of a key pair in a block.

    Another worker, which uses the copy too, may find the copy gone: Nova then
    refuses the server, and the server is due still.

    :param pair: None for a server without a key pair
    :returns: the name of the copy, '' for a server without a key pair
    :raises exceptions.ClientError: when Nova refuses the copy
    """
    if pair is None:
        yield ''
        return
    name, is_new = _copy(nova, pair)
    try:
        yield name
    finally:
        if is_new:
            with contextlib.suppress(*scaling.FAILURES):
                nova.delete_key_pair(name)


def _copy(nova: servers.Servers,
          pair: started_servers.KeyPair) -> tuple[str, bool]:
    """Give the worker's user a key pair.

    The user has a single key pair of each name, whatever the project: where
    the name is taken, the name gets an end that tells keys apart.

    :returns: the name, and whether the key pair is new
    :raises exceptions.ClientError: when Nova refuses the key pair
    """
    digest = hashlib.sha256(
        f'{pair.kind} {pair.public_key}'.encode()).hexdigest()[:8]
    for name in (pair.name, f'{pair.name[:200]}-{digest}'):
        try:
            nova.import_key_pair(name, pair.kind, pair.public_key)
            return name, True
        except exceptions.Conflict:
            if nova.public_key(name) == pair.public_key:
                return name, False
    raise exceptions.Conflict(
        f'The user of the worker has another key pair {name}')
