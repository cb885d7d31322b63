# SPDX-License-Identifier: Apache-2.0

"""The files of each host with a hypervisor of the host's own."""

import os
import pathlib
import sys
import uuid

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings

# vCPUs that a host has for servers: all hosts see the whole machine.
VCPUS = 6
PORT = 16509

LIBVIRTD = """\
listen_tls = 0
listen_tcp = 1
listen_addr = "{address}"
tcp_port = "{port}"
auth_tcp = "none"
auth_unix_rw = "none"
unix_sock_dir = "/run/libvirt"
unix_sock_group = "root"
host_uuid = "{uuid}"
log_outputs = "2:stderr"
"""

# Guests may not use what belongs to the machine: cgroups, security drivers.
QEMU = """\
user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
cgroup_controllers = []
namespaces = []
stdio_handler = "file"
migration_address = "{address}"
migration_host = "{address}"
"""

# libvirtd looks for the user, although QEMU runs as root here.
USER = 'libvirt-qemu:x:64055:64055::/var/lib/libvirt:/usr/sbin/nologin\n'
GROUP = 'libvirt-qemu:x:64055:\n'

# The guests do not know ACPI: a shutdown would wait in vain for a minute.
# Nova inspects the kernel of a live migration as if the kernel were a disk.
NOVA = """\

[DEFAULT]
compute_driver = libvirt.LibvirtDriver
my_ip = {address}
instances_path = {instances}
force_raw_images = false
initial_cpu_allocation_ratio = {ratio}
shutdown_timeout = 3
[libvirt]
virt_type = qemu
cpu_mode = none
hw_machine_type = x86_64=pc
images_type = qcow2
connection_uri = qemu:///system
live_migration_scheme = tcp
live_migration_uri = qemu+tcp://%s/system
live_migration_inbound_addr = {address}
[oslo_concurrency]
lock_path = {locks}
[nova_sys_admin]
helper_command = {helper}
[privsep_osbrick]
helper_command = {helper}
[vif_plug_linux_bridge_privileged]
helper_command = {helper}
[workarounds]
disable_deep_image_inspection = true
"""

# Nova copies disks between hosts by ssh. The folders of all hosts are at hand
# here, so that the copy needs no daemon and no key.
SSH = """\
#!/bin/bash
# ssh [-o OPTION] ADDRESS COMMAND...
while [ "${{1#-}}" != "$1" ]; do
    [ "$1" = -o ] && shift
    shift
done
mine={instances}
there={addresses}/$1/instances
shift
exec "${{@//$mine/$there}}"
"""

SCP = """\
#!/bin/bash
# scp [-r] SOURCE ADDRESS:TARGET, or the other way round
mine={instances}
places=()
for each in "$@"; do
    case $each in
    -*) ;;
    127.*:*)
        there={addresses}/${{each%%:*}}/instances
        path=${{each#*:}}
        places+=("${{path//$mine/$there}}") ;;
    *) places+=("$each") ;;
    esac
done
exec cp -r -- "${{places[@]}}"
"""


def address(chosen: settings.Settings, host: str) -> str:
    """Return the address of a host, of the machine's loopback network.

    Sandboxes on the same machine have different addresses.
    """
    first, second = bytes.fromhex(chosen.key)[:2]
    place = chosen.host_names().index(host)
    return f'127.{first}.{second}.{place + 11}'


def write_all(where: layout.Layout, chosen: settings.Settings) -> None:
    """Write the files of all hosts.

    The configuration of Nova's services has been written before.
    """
    addresses = where.data / 'addresses'
    addresses.mkdir()
    where.copiers.mkdir()
    places = {'addresses': addresses, 'instances': where.instances}
    for name, text in (('ssh', SSH), ('scp', SCP)):
        path = where.copiers / name
        path.write_text(text.format(**places))
        path.chmod(0o755)
    for host in chosen.host_names():
        _write_host(where, chosen, host)
        (addresses / address(chosen, host)).symlink_to(where.host_data(host))


def _write_host(where: layout.Layout, chosen: settings.Settings,
                host: str) -> None:
    root, own = where.host_data(host), address(chosen, host)
    for name in ('etc', 'cache', 'lib', 'log', 'instances', 'locks'):
        (root / name).mkdir()
    (root / 'etc' / 'libvirtd.conf').write_text(LIBVIRTD.format(
        address=own, port=PORT, uuid=uuid.uuid4()))
    (root / 'etc' / 'qemu.conf').write_text(QEMU.format(address=own))
    for name, line in (('passwd', USER), ('group', GROUP),
                       ('hosts', f'{own} {host}\n')):
        # A machine may have the user of libvirt already.
        text = pathlib.Path('/etc', name).read_text()
        known = line.split(':')[0] + ':'
        (root / name).write_text(
            text if known in text and name != 'hosts' else
            f'{line}{text}' if name == 'hosts' else f'{text}{line}')
    helper = pathlib.Path(sys.executable).parent / 'privsep-helper'
    with open(where.host_conf(host), 'a') as stream:
        stream.write(NOVA.format(
            address=own, instances=where.instances,
            ratio=VCPUS / (os.cpu_count() or 1), locks=root / 'locks',
            helper=f'{helper} --config-file {where.nova_conf} '
                   f'--config-file {where.host_conf(host)}'))
