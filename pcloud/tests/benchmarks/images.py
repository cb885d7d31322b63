# SPDX-License-Identifier: Apache-2.0

"""Glance in a process of its own, for benchmarks.

Nova's own tests have an image at hand without any call, which hides that a
call of Glance costs nova-api more than all that Pcloud does for a launch.
"""

from __future__ import annotations

import requests

from pcloud.tests.concurrency import cloud as concurrency
from pcloud.tests.concurrency import mariadb
from pcloud_sandbox.configuration import paste

_CONF = """
[DEFAULT]
log_file = {folder}/glance.log
enabled_backends = files:file
enabled_import_methods = []
[glance_store]
default_backend = files
[files]
filesystem_store_datadir = {folder}/images
[os_glance_staging_store]
filesystem_store_datadir = {folder}/staging
[os_glance_tasks_store]
filesystem_store_datadir = {folder}/tasks
[database]
connection = sqlite:///{folder}/glance.db
[paste_deploy]
config_file = {paste}
[oslo_concurrency]
lock_path = {folder}
[oslo_policy]
policy_file = {folder}/policy.yaml
"""
# There is no Keystone to tell Glance who asks.
_POLICIES = ('add_image', 'get_image', 'modify_image', 'upload_image',
             'publicize_image')
_CONTENT = b'A disk for servers that nobody starts.\n'
_TIMEOUT = 600


def start(cloud: concurrency.Cloud) -> str:
    """Start Glance, which ends with the cloud; return Glance's URL."""
    folder = cloud.folder / 'glance'
    for name in ('images', 'staging', 'tasks'):
        (folder / name).mkdir(parents=True)
    path = folder / 'glance-api.conf'
    path.write_text(_CONF.format(folder=folder, paste=paste.installed(
        'glance', 'etc/glance/glance-api-paste.ini')))
    (folder / 'policy.yaml').write_text(
        ''.join(f'{name}: "@"\n' for name in _POLICIES))
    port, = mariadb.free_ports(1)
    cloud.serve('glance', path, port)
    url = f'http://127.0.0.1:{port}'
    cloud.wait_for(url)
    return url


def create(glance: str) -> str:
    """Create a public image; return the image's id.

    :param glance: Glance's URL
    """
    made = requests.post(f'{glance}/v2/images', timeout=_TIMEOUT, json={
        'name': 'image', 'disk_format': 'raw', 'container_format': 'bare',
        'visibility': 'public'})
    made.raise_for_status()
    image = made.json()['id']
    requests.put(
        f'{glance}/v2/images/{image}/file', data=_CONTENT, timeout=_TIMEOUT,
        headers={'Content-Type': 'application/octet-stream'},
    ).raise_for_status()
    return image
