# SPDX-License-Identifier: Apache-2.0

"""The paths of a sandbox's files and folders in the state folder."""

import os
import pathlib

from pcloud_sandbox import errors

STATE_FILE = 'sandbox.json'
FRESH_STATE_FILE = 'sandbox.json.new'
LOCK_FILE = 'sandbox.lock'
CLOUDS_FILE = 'clouds.yaml'
OURS = frozenset([STATE_FILE, FRESH_STATE_FILE, LOCK_FILE, CLOUDS_FILE,
                  'etc', 'data', 'logs'])


def default_directory() -> pathlib.Path:
    """Return the state folder when the command line names no folder.

    The folder is ``$PCLOUD_SANDBOX_DIR``, else ``pcloud-sandbox`` in the
    user's cache folder.
    """
    chosen = os.environ.get('PCLOUD_SANDBOX_DIR')
    if chosen:
        return pathlib.Path(chosen)
    return _cache() / 'pcloud-sandbox'


def guest_cache() -> pathlib.Path:
    """Return the folder that keeps the kernel of guests for all sandboxes."""
    return _cache() / 'pcloud-sandbox-guest'


def _cache() -> pathlib.Path:
    """Return the user's cache folder."""
    cache = os.environ.get('XDG_CACHE_HOME', '')
    # The XDG base directory specification: a relative path is ignored.
    if not os.path.isabs(cache):
        cache = os.path.expanduser('~/.cache')
    return pathlib.Path(cache)


class Layout:
    """The files and folders of one sandbox.

    :param directory: the state folder; the folder need not exist yet
    """

    def __init__(self, directory: os.PathLike | str):
        self.directory = pathlib.Path(directory).absolute()
        self.lock = self.directory / LOCK_FILE
        self.state = self.directory / STATE_FILE
        self.fresh_state = self.directory / FRESH_STATE_FILE
        self.clouds = self.directory / CLOUDS_FILE
        self.etc = self.directory / 'etc'
        self.nova_conf = self.etc / 'nova.conf'
        self.dashboard = self.etc / 'horizon'
        self.data = self.directory / 'data'
        self.logs = self.directory / 'logs'
        self.requests = self.data / 'requests'
        self.instances = self.data / 'instances'
        self.copiers = self.data / 'copiers'
        self.guest = self.data / 'guest'
        self.guest_kernel = self.guest / 'kernel'
        self.guest_ramdisk = self.guest / 'ramdisk'

    def log(self, name: str) -> pathlib.Path:
        """Return the log file of a service or of a step of the start."""
        return self.logs / f'{name}.log'

    def host_conf(self, host: str) -> pathlib.Path:
        """Return the file with the settings of a single host of Nova."""
        return self.etc / 'hosts' / f'{host}.conf'

    def host_data(self, host: str) -> pathlib.Path:
        """Return the ``state_path`` of a host of Nova."""
        return self.data / 'hosts' / host

    def folders(self) -> list[pathlib.Path]:
        """Return every folder that the services expect to exist."""
        data = ['images', 'requests', 'staging', 'tasks', 'image-cache',
                'locks', 'instances', 'fernet-keys', 'credential-keys']
        return [self.etc, self.logs, self.data,
                *(self.data / name for name in data)]

    def check_usable(self) -> None:
        """Refuse a folder that holds files of another program.

        Stopping a sandbox removes the content of the state folder, so the
        folder has to be the sandbox's own.

        :raises SandboxError: the path is not a folder, or the folder holds
            files of another program, or the path cannot be written into a
            configuration file
        """
        if any(c in '$#?%\'"\n' for c in str(self.directory)):
            raise errors.SandboxError(
                f'{self.directory}: a sandbox cannot live below a path with '
                'one of the characters $ # ? % or a quote in it; choose '
                'another with --dir')
        if not self.directory.exists():
            return
        if not self.directory.is_dir():
            raise errors.SandboxError(
                f'{self.directory} is not a folder; choose another with '
                '--dir')
        strangers = {p.name for p in self.directory.iterdir()} - OURS
        if strangers or (not self.lock.exists()
                         and any(self.directory.iterdir())):
            raise errors.SandboxError(
                f'{self.directory} holds files that are not of a sandbox; '
                'choose a new or an empty folder with --dir')
