# SPDX-License-Identifier: Apache-2.0

"""A cloud of separate processes, for a run that is given none."""

import atexit
import functools
import os
import pathlib
import secrets
import subprocess
import tempfile

from openstack import config

from pcloud.tests.sandbox import base
from pcloud_sandbox.configuration import layout

DATABASE = os.environ.get(
    'PCLOUD_TEST_DATABASE', 'mysql+pymysql://root@127.0.0.1')
MESSAGING = os.environ.get(
    'PCLOUD_TEST_MESSAGING', 'rabbit://guest:guest@127.0.0.1:5672/')
HOSTS = 4
_UP = 'the cloud is up'


def start() -> layout.Layout:
    """Start a cloud of fake hosts; see `start_with`."""
    return start_with('--hosts', str(HOSTS))


@functools.cache
def start_with(*options: str) -> layout.Layout:
    """Start a cloud that ends with this process, and return its files.

    ``pcloud-sandbox run`` keeps a cloud as long as its command runs. The
    command reads from this process, so the command ends however this process
    ends.

    :param options: the options that say which hosts the cloud has
    :raises: `AssertionError` with the messages of ``pcloud-sandbox``
    """
    folder = pathlib.Path(
        tempfile.gettempdir(), f'pcloud-cloud-test-{secrets.token_hex(4)}')
    with tempfile.TemporaryFile('w+') as told:
        process = subprocess.Popen(
            [*base.COMMAND, '--dir', str(folder), 'run',
             *options, '--database', DATABASE,
             '--messaging', MESSAGING, '--',
             'sh', '-c', f'echo {_UP}; exec cat'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told,
            text=True, start_new_session=True)
        atexit.register(_stop, process)
        if process.stdout.readline().strip() != _UP:
            told.seek(0)
            raise AssertionError(f'No cloud was started: {told.read()}')
    return layout.Layout(folder)


def clouds_of(where: layout.Layout) -> config.OpenStackConfig:
    """Read the clouds.yaml of a sandbox, and no variables."""
    return config.OpenStackConfig(
        config_files=[str(where.clouds)], load_envvars=False)


def _stop(process: subprocess.Popen) -> None:
    process.stdin.close()
    process.wait()
    process.stdout.close()
