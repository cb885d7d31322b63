# SPDX-License-Identifier: Apache-2.0

"""A private MariaDB and RabbitMQ of a test, which the test may restart."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import psutil

from pcloud_sandbox.configuration import ports
from pcloud_sandbox.running import processes

# Debian's command in the PATH wants to be root or its own user.
_RABBITMQ = '/usr/lib/rabbitmq/bin/rabbitmq-server'
# Seconds that a server may take to start.
_TIMEOUT = 120


class Server:
    """A server process with a folder for the server's data.

    :cvar program: the program that has to be installed
    :ivar port: the port on which the server listens
    """

    program: str

    def __init__(self) -> None:
        self.port = free_port()
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix='pcloud-srv-'))
        self._process: subprocess.Popen | None = None

    @classmethod
    def is_installed(cls) -> bool:
        """Return whether this machine has the server's program."""
        return shutil.which(cls.program) is not None

    def start(self) -> None:
        """Start the server, and wait until the server listens.

        :raises: `AssertionError` with the log's tail when the server ends
            or does not listen in time
        """
        with open(self._folder / 'log', 'ab') as log:
            self._process = subprocess.Popen(
                self._command(), env=self._environment(), stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, cwd=self._folder,
                preexec_fn=processes.die_with_parent)
        deadline = time.monotonic() + _TIMEOUT
        while not _listens(self.port):
            if (self._process.poll() is not None
                    or time.monotonic() > deadline):
                raise AssertionError(
                    (self._folder / 'log').read_text()[-2000:])
            time.sleep(0.2)

    def stop(self) -> None:
        """Stop the server; the data stays."""
        if self._process is not None:
            workers = processes.descendants([self._process])
            processes.end_all([psutil.Process(self._process.pid), *workers])
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """Kill the server, as a power failure does."""
        workers = processes.descendants([self._process])
        self._process.kill()
        processes.send(workers, signal.SIGKILL)
        psutil.wait_procs(workers, timeout=processes.REAP)
        self._process.wait()
        self._process = None

    def remove(self) -> None:
        """Stop the server, and remove the data."""
        self.stop()
        shutil.rmtree(self._folder)

    def _command(self) -> list[str]:
        raise NotImplementedError()

    def _environment(self) -> dict[str, str]:
        return dict(os.environ)


class MariaDB(Server):
    """A MariaDB in which root needs no password."""

    program = 'mariadb-install-db'

    def __init__(self) -> None:
        super().__init__()
        subprocess.run(
            [self.program, '--no-defaults', f'--datadir={self._data}',
             '--auth-root-authentication-method=normal', *_run_as()],
            check=True, stdout=subprocess.DEVNULL)

    @property
    def url(self) -> str:
        """The URL for ``pcloud-sandbox up --database``."""
        return f'mysql+pymysql://root@{ports.HOST}:{self.port}'

    @property
    def _data(self) -> pathlib.Path:
        return self._folder / 'data'

    def _command(self) -> list[str]:
        # Committed rows survive a killed process, not a killed machine.
        return [shutil.which('mariadbd') or '/usr/sbin/mariadbd',
                '--no-defaults', f'--datadir={self._data}', *_run_as(),
                f'--socket={self._folder / "socket"}',
                f'--port={self.port}', f'--bind-address={ports.HOST}',
                '--innodb-flush-log-at-trx-commit=2',
                '--max-connections=300']


class RabbitMQ(Server):
    """A RabbitMQ with the user guest."""

    program = _RABBITMQ

    @property
    def url(self) -> str:
        """The URL for ``pcloud-sandbox up --messaging``.

        The URL names the default virtual host.
        """
        return f'rabbit://guest:guest@{ports.HOST}:{self.port}/%2F'

    def _command(self) -> list[str]:
        return [self.program]

    def _environment(self) -> dict[str, str]:
        nothing = self._folder / 'nothing'
        nothing.touch()
        return {
            **os.environ,
            'HOME': str(self._folder),
            'RABBITMQ_CONF_ENV_FILE': str(nothing),
            'RABBITMQ_CONFIG_FILE': str(self._folder / 'none'),
            'RABBITMQ_ENABLED_PLUGINS_FILE': str(self._folder / 'plugins'),
            'RABBITMQ_NODENAME': f'pcloud-{self.port}@localhost',
            'RABBITMQ_NODE_IP_ADDRESS': ports.HOST,
            'RABBITMQ_NODE_PORT': str(self.port),
            # By itself it takes a port that any outgoing connection may have.
            # The next port belongs to no other server, see `ports.find_free`.
            'RABBITMQ_DIST_PORT': str(self.port + 1),
            'RABBITMQ_MNESIA_BASE': str(self._folder / 'mnesia'),
            'RABBITMQ_LOG_BASE': str(self._folder / 'logs'),
            'RABBITMQ_PID_FILE': str(self._folder / 'pid'),
        }


def free_port() -> int:
    """Return a port on which no process listens."""
    return ports.find_free()['keystone']


def _run_as() -> list[str]:
    # MariaDB runs as root only with this option.
    return ['--user=root'] if os.geteuid() == 0 else []


def _listens(port: int) -> bool:
    with socket.socket() as connection:
        connection.settimeout(1)
        return connection.connect_ex((ports.HOST, port)) == 0
