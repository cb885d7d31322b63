# SPDX-License-Identifier: Apache-2.0

"""The broker through which Nova's processes talk: a RabbitMQ.

Two clouds, and two cells of a cloud, have queues of the same names: a
virtual host keeps the queues apart. Where the URL names no virtual host,
the sandbox makes a virtual host for each cell.
"""

import shutil
import subprocess
import urllib.parse

from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors

CONTROL = 'rabbitmqctl'
# Seconds: for one command of CONTROL; to connect.
CONTROL_TIMEOUT = 600
CONNECT_TIMEOUT = 5


def url(chosen: settings.Settings, cell: int = 1) -> str:
    """Return the transport URL of Nova's processes in a cell.

    Processes that belong to no cell use the URL of the first cell.
    """
    if chosen.messaging is None:
        return 'fake://'
    parts = _split(chosen)
    if not _has_own_host(chosen):
        return parts.geturl()
    return parts._replace(path='/' + _own(chosen, cell)).geturl()


def check(chosen: settings.Settings) -> None:
    """Check the settings of messaging, without a call to the broker.

    :raises: `SandboxError` when the URL is not a broker's, or does not go
        with the database or the number of cells
    """
    if chosen.messaging is None:
        if chosen.cells > 1:
            raise errors.SandboxError(
                f'--cells {chosen.cells}: a process of Nova is in one cell; '
                'give --database and --messaging too')
        return
    if chosen.database is None:
        raise errors.SandboxError(
            '--messaging makes processes that cannot share files as '
            'databases; give --database too, as in '
            '--database mysql+pymysql://root@127.0.0.1')
    if chosen.cells > 1 and not _has_own_host(chosen):
        raise errors.SandboxError(
            f'--cells {chosen.cells}: each cell has a virtual host of its '
            'own, which the sandbox makes; name none in --messaging')
    _split(chosen)


def create(chosen: settings.Settings) -> None:
    """Make the virtual hosts, and connect to the first virtual host.

    :raises: `SandboxError` when the broker refuses, or does not answer
    """
    if chosen.messaging is None:
        return
    if _has_own_host(chosen):
        user = urllib.parse.unquote(_split(chosen).username or 'guest')
        for cell in chosen.cell_numbers():
            _control('add_vhost', _own(chosen, cell))
            _control('set_permissions', '-p', _own(chosen, cell), user,
                     '.*', '.*', '.*')
    _connect(chosen)


def delete(chosen: settings.Settings) -> None:
    """Delete the sandbox's virtual hosts, with all queues.

    A virtual host that the URL names stays.

    :raises: `SandboxError` when the broker refuses, or does not answer
    """
    if chosen.messaging is None or not _has_own_host(chosen):
        return
    there = _control('list_vhosts', '--silent').split()
    for cell in chosen.cell_numbers():
        if _own(chosen, cell) in there:
            _control('delete_vhost', _own(chosen, cell))


def _split(chosen: settings.Settings) -> urllib.parse.SplitResult:
    parts = urllib.parse.urlsplit(chosen.messaging)
    if parts.scheme != 'rabbit' or not parts.hostname:
        raise errors.SandboxError(
            f'--messaging {chosen.messaging}: is not a URL such as '
            'rabbit://user:password@127.0.0.1:5672')
    return parts


def _has_own_host(chosen: settings.Settings) -> bool:
    return _split(chosen).path in ('', '/')


def _own(chosen: settings.Settings, cell: int) -> str:
    name = f'pcloud-sandbox-{chosen.key}'
    return name if cell == 1 else f'{name}-cell{cell}'


def _control(*arguments: str) -> str:
    """Run the broker's command and return the output."""
    hint = ('; or make a virtual host yourself and name it in --messaging, '
            'as in rabbit://user:password@127.0.0.1:5672/mine')
    if shutil.which(CONTROL) is None:
        raise errors.SandboxError(f'{CONTROL}: not found{hint}')
    done = subprocess.run(
        [CONTROL, *arguments], text=True, check=False,
        timeout=CONTROL_TIMEOUT, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        output = ' '.join((done.stderr or done.stdout).split())
        raise errors.SandboxError(
            f'{CONTROL} {arguments[0]}: {output[:300]}{hint}')
    return done.stdout


def _connect(chosen: settings.Settings) -> None:
    import kombu

    parts = urllib.parse.urlsplit(url(chosen))._replace(scheme='amqp')
    with kombu.Connection(
            parts.geturl(), connect_timeout=CONNECT_TIMEOUT) as connection:
        try:
            connection.connect()
        except (OSError, *connection.connection_errors) as error:
            raise errors.SandboxError(
                f'{connection.as_uri()}: {error}') from error
