# SPDX-License-Identifier: Apache-2.0

"""Masakari's engine beside a cloud, and what tells the engine of failures.

Run as a program, ``python -m pcloud.tests.hypervisors.masakari CONF METHOD
HOST [RESERVED]``: write into Masakari's database and send to the engine what
masakari-api writes and sends when a host has failed, and print the uuid of
the notification.
"""

import contextlib
import pathlib
import secrets
import sqlite3
import subprocess
import sys
import tempfile

from pcloud.tests.cloud import own_cloud
from pcloud.tests.cloud import waiting
from pcloud_sandbox.configuration import clouds_yaml
from pcloud_sandbox.configuration import layout

AUTO, RESERVED = 'auto', 'reserved_host'
_NAME = 'masakari'
_ENGINE = 'from masakari.cmd import engine; engine.main()'
_SYNC = 'from masakari.cmd import manage; manage.main()'
_OVER = ('finished', 'failed', 'error', 'ignored')


def conf(folder: pathlib.Path, where: layout.Layout) -> str:
    """Return the text of a masakari.conf for a cloud."""
    auth = own_cloud.clouds_of(where).get_one(
        clouds_yaml.cloud_name('admin')).config['auth']
    return f'''\
[DEFAULT]
host = {_NAME}
transport_url = {own_cloud.MESSAGING}
control_exchange = {_NAME}
log_file = {folder}/engine.log
nova_catalog_admin_info = compute:nova:public
os_privileged_user_name = {auth['username']}
os_privileged_user_password = {auth['password']}
os_privileged_user_tenant = {auth['project_name']}
os_privileged_user_auth_url = {auth['auth_url']}
# Seconds until Nova calls a host down.
wait_period_after_service_update = 30
[database]
connection = sqlite:///{folder}/{_NAME}.sqlite
[host_failure]
add_reserved_host_to_aggregate = true
[keystone_authtoken]
auth_type = password
[oslo_concurrency]
lock_path = {folder}/locks
[taskflow]
connection = sqlite:///{folder}/flows.sqlite
'''


class Engine:
    """A masakari-engine that runs until the context is left."""

    def __init__(self, where: layout.Layout) -> None:
        self._where = where

    def __enter__(self) -> 'Engine':
        with contextlib.ExitStack() as stack:
            self._folder = pathlib.Path(stack.enter_context(
                tempfile.TemporaryDirectory(prefix='pcloud-masakari-')))
            self._file = self._folder / 'masakari.conf'
            self._file.write_text(conf(self._folder, self._where))
            self._run(_SYNC, 'db', 'sync')
            self._process = subprocess.Popen(
                self._command(_ENGINE), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            stack.callback(self._end)
            self._kept = stack.pop_all()
        return self

    def __exit__(self, *error) -> None:
        self._kept.close()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _command(self, code: str, *arguments: str) -> list[str]:
        return [sys.executable, '-W', 'ignore', '-c', code,
                '--config-file', str(self._file), *arguments]

    def _run(self, code: str, *arguments: str) -> None:
        subprocess.run(self._command(code, *arguments), check=True,
                       capture_output=True)

    @property
    def log(self) -> str:
        """The log of the engine."""
        return (self._folder / 'engine.log').read_text()

    def host_has_failed(self, method: str, *hosts: str) -> str:
        """Tell of a host that has failed; return how the recovery ended.

        :param method: `AUTO` or `RESERVED`
        :param hosts: the host, and the reserved ones of its segment
        """
        uuid = subprocess.run(
            [sys.executable, '-W', 'ignore', '-m', __spec__.name,
             str(self._file), method, *hosts],
            check=True, stdout=subprocess.PIPE,
            text=True).stdout.splitlines()[-1]
        return waiting.until(lambda: self._ended(uuid), lambda: self.log)

    def _ended(self, uuid: str) -> str | None:
        with contextlib.closing(sqlite3.connect(
                self._folder / f'{_NAME}.sqlite')) as database:
            (status,), = database.execute(
                'SELECT status FROM notifications '
                'WHERE notification_uuid = ?', (uuid,))
        return status if status in _OVER else None


def main(file: str, method: str, *hosts: str) -> None:
    """Tell masakari-engine that the first of some hosts has failed."""
    # Masakari parses the options when its modules are imported.
    from masakari import config
    config.parse_args([_NAME, '--config-file', file])
    from masakari import context
    from masakari.engine import rpcapi
    from masakari import objects
    from oslo_utils import timeutils

    objects.register_all()
    admin = context.get_admin_context()
    admin.project_id = _NAME
    segment = objects.FailoverSegment(
        admin, name=secrets.token_hex(4), service_type='COMPUTE',
        recovery_method=method)
    segment.create()
    written = [objects.Host(
        admin, name=name, failover_segment=segment, type='COMPUTE',
        control_attributes='SSH', on_maintenance=False,
        reserved=name != hosts[0]) for name in hosts]
    for host in written:
        host.create()
    told = objects.Notification(
        admin, generated_time=timeutils.utcnow(), type='COMPUTE_HOST',
        source_host_uuid=written[0].uuid, status='new',
        failover_segment_uuid=segment.uuid, payload={
            'event': 'STOPPED', 'host_status': 'NORMAL',
            'cluster_status': 'OFFLINE'})
    told.create()
    rpcapi.EngineAPI().process_notification(admin, told)
    print(told.notification_uuid)


if __name__ == '__main__':
    main(*sys.argv[1:])
