# SPDX-License-Identifier: Apache-2.0

"""Run a command beside a Galera cluster of three nodes on this machine.

``python -m pcloud.tests.concurrency.galera COMMAND...`` starts three processes
of MariaDB with databases of their own, runs the command with
``PCLOUD_TEST_NODES``, so that the API processes of the tests write to all
nodes, prints how many transactions the nodes have refused, and ends with the
exit status of the command.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import getpass
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import pymysql

from pcloud.tests.concurrency import mariadb

_NODES = 3
# rsync may not write as root what MariaDB has it transfer.
_USER = f'--user={getpass.getuser() if os.geteuid() else "mysql"}'
_PROVIDER = '/usr/lib/galera/libgalera_smm.so'
_SYNCED = '4'
# Transactions that were refused when they were certified, and those that were
# broken off because another node was first.
_CONFLICTS = ('wsrep_local_cert_failures', 'wsrep_local_bf_aborts',
              'wsrep_replicated')
_OPTIONS = (
    '--no-defaults', '--bind-address=127.0.0.1', '--wsrep-on=ON',
    f'--wsrep-provider={_PROVIDER}', '--wsrep-cluster-name=pcloud-test',
    '--wsrep-sst-method=rsync', '--binlog-format=ROW',
    '--default-storage-engine=InnoDB', '--innodb-autoinc-lock-mode=2',
    '--innodb-flush-log-at-trx-commit=0', '--max-connections=1000',
    # A process reads on one node what another has written on another node.
    '--wsrep-sync-wait=7')


class Node:
    """A node of the cluster.

    :param folder: the folder of all nodes
    :param ports: of MySQL, of the group, and of transfers of increments and
        of whole states, for each node
    :param number: the index in `ports`
    """

    def __init__(
        self, folder: pathlib.Path, ports: Sequence[Sequence[int]],
        number: int,
    ) -> None:
        self.folder = folder / f'node-{number}'
        self.port, self._group, self._increments, self._states = ports[number]
        # The first node begins the cluster.
        self._others = ','.join(
            f'127.0.0.1:{group}' for _, group, *_ in ports) if number else ''

    def install(self) -> None:
        """Make the databases of the node; those of the first replace them."""
        self.folder.mkdir()
        subprocess.run(
            ['mariadb-install-db', '--no-defaults', _USER,
             f'--datadir={self.folder}',
             '--auth-root-authentication-method=normal'],
            check=True, stdout=subprocess.DEVNULL)

    def start(self) -> subprocess.Popen:
        """Start the node."""
        with open(self.folder / 'log', 'w') as log:
            return subprocess.Popen(
                ['mariadbd', *_OPTIONS, _USER, f'--datadir={self.folder}',
                 f'--socket={self.folder}/socket', f'--port={self.port}',
                 f'--pid-file={self.folder}/pid',
                 f'--wsrep-cluster-address=gcomm://{self._others}',
                 f'--wsrep-node-address=127.0.0.1:{self._group}',
                 f'--wsrep-sst-receive-address=127.0.0.1:{self._states}',
                 '--wsrep-provider-options='
                 f'gmcast.listen_addr=tcp://127.0.0.1:{self._group};'
                 f'ist.recv_addr=127.0.0.1:{self._increments}'],
                stdout=log, stderr=log)

    def wait(self, process: subprocess.Popen) -> None:
        """Wait until the node has all that the others have.

        :raises: `AssertionError` with the end of the log when it has ended
        """
        while process.poll() is None:
            with contextlib.suppress(pymysql.err.MySQLError):
                if self.status(['wsrep_local_state']) == [_SYNCED]:
                    return
            time.sleep(0.2)
        raise AssertionError((self.folder / 'log').read_text()[-3000:])

    def status(self, names: Sequence[str]) -> list[str]:
        """Return what the node says of itself."""
        with pymysql.connect(host=mariadb.HOST, port=self.port,
                             user=mariadb.USER) as connection:
            with connection.cursor() as cursor:
                cursor.execute("SHOW GLOBAL STATUS LIKE 'wsrep%'")
                found = dict(cursor.fetchall())
        return [found[name] for name in names]


@contextlib.contextmanager
def running() -> Iterator[list[Node]]:
    """Start a cluster; yield the nodes."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(
            tempfile.TemporaryDirectory(prefix='pcloud-galera-')))
        free = iter(mariadb.free_ports(4 * _NODES))
        ports = [[next(free) for _ in range(4)] for _ in range(_NODES)]
        nodes = [Node(folder, ports, number) for number in range(_NODES)]
        folder.chmod(0o755)
        for node in nodes:
            node.install()
            process = node.start()
            stack.callback(process.wait)
            stack.callback(process.terminate)
            node.wait(process)
        yield nodes


def main(command: Sequence[str]) -> int:
    """Run a command beside a cluster; return the exit status."""
    with running() as nodes:
        status = subprocess.run(command, env={
            **os.environ, mariadb.VARIABLE: ','.join(
                str(node.port) for node in nodes)}).returncode
        for number, node in enumerate(nodes):
            print(f'node {number}: ' + ', '.join(
                f'{name} {value}' for name, value in zip(
                    _CONFLICTS, node.status(_CONFLICTS), strict=True)))
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
