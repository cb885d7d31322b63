# SPDX-License-Identifier: Apache-2.0

"""Fill a new cloud: an image, a network, flavors, zones, names of hints.

Run as a program: ``python -m pcloud_sandbox.services.catalog DIR``.
"""

import json
import sys
import time

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import own_files
from pcloud_sandbox.configuration import settings
from pcloud_sandbox.hypervisors import guest
from pcloud_sandbox import rest

# name: (vcpus, MiB of memory, GiB of disk). A fake host has 10 vCPUs, which
# Nova overcommits four times, 8192 MiB and 1028 GiB: a fake host holds 16,
# 4, 2 or 1 servers of these flavors.
FLAVORS = {
    'm1.tiny': (1, 512, 1),
    'm1.small': (1, 2048, 20),
    'm1.medium': (2, 4096, 40),
    'm1.large': (4, 8192, 80),
}
IMAGE = 'cirros'
NETWORK = 'shared'
# A host with a hypervisor has 6 vCPUs, and the machine's memory.
GUEST_FLAVORS = {'m1.nano': (1, 96, 1), 'm1.micro': (1, 128, 1)}
GUEST_IMAGE = 'counter'
# Addresses for more servers than a sandbox can have.
ADDRESSES = '10.0.0.0/16'
# The fake hypervisor never reads the content.
IMAGE_CONTENT = b'A disk for servers that are not there.\n'


def create_image(admin: rest.Client, glance: str) -> None:
    """Create a public image."""
    _upload(admin, glance, IMAGE_CONTENT, name=IMAGE, disk_format='raw',
            container_format='bare')


def create_guest(admin: rest.Client, glance: str,
                 where: layout.Layout) -> None:
    """Create a public image of the guest that counts on its console."""
    kernel, ramdisk = (
        _upload(admin, glance, path.read_bytes(), name=f'{GUEST_IMAGE}-{kind}',
                disk_format=kind, container_format=kind)
        for kind, path in (('aki', where.guest_kernel),
                           ('ari', where.guest_ramdisk)))
    _upload(admin, glance, bytes(guest.DISK_SIZE), name=GUEST_IMAGE,
            disk_format='raw', container_format='bare', kernel_id=kernel,
            ramdisk_id=ramdisk, os_command_line=guest.COMMAND_LINE)


def _upload(admin: rest.Client, glance: str, content: bytes,
            **properties: str) -> str:
    """Create a public image with content, and return the image's id."""
    image = admin.send('POST', glance + '/v2/images', {
        'visibility': 'public', **properties})
    admin.send('PUT', f'{glance}/v2/images/{image["id"]}/file', content)
    return image['id']


def define_hints(admin: rest.Client, glance: str) -> None:
    """Define Pcloud's hints, for programs that ask users for hints."""
    definitions = own_files.path(own_files.HINT_DEFINITIONS).read_text()
    admin.send('POST', f'{glance}/v2/metadefs/namespaces',
               json.loads(definitions))


def create_network(admin: rest.Client, neutron: str) -> None:
    """Create a network that every project may use, unless there is one.

    As it is the only network, servers get an interface there unless they
    ask for something else.
    """
    networks = f'{neutron}/v2.0/networks'
    if admin.get(f'{networks}?name={NETWORK}')['networks']:
        return
    made = admin.send('POST', networks, {
        'network': {'name': NETWORK, 'shared': True}})
    admin.send('POST', f'{neutron}/v2.0/subnets', {'subnet': {
        'name': NETWORK, 'network_id': made['network']['id'],
        'ip_version': 4, 'cidr': ADDRESSES, 'enable_dhcp': False}})


def create_flavors(admin: rest.Client, compute: str,
                   flavors: dict[str, tuple[int, int, int]]) -> None:
    """Create public flavors, with ids from 1 as in Nova's old defaults.

    :param flavors: name to vCPUs, MiB of memory, GiB of disk
    """
    for number, (name, size) in enumerate(flavors.items(), start=1):
        vcpus, memory, disk = size
        admin.send('POST', compute + '/flavors', {'flavor': {
            'id': str(number), 'name': name, 'vcpus': vcpus,
            'ram': memory, 'disk': disk}})


def wait_for_hosts(admin: rest.Client, chosen: settings.Settings) -> None:
    """Wait until each host is up and has an inventory in Placement.

    The supervisor ends a wait in which no host becomes ready.
    """
    before = None
    while missing := set(chosen.host_names()) - ready_hosts(admin, chosen):
        if missing != before:
            print(f'waiting for {", ".join(sorted(missing))}', flush=True)
        before = missing
        time.sleep(0.5)


def ready_hosts(admin: rest.Client, chosen: settings.Settings) -> set[str]:
    """Return the names of the hosts that servers can be placed on."""
    services = admin.get(chosen.url('nova')
                         + '/v2.1/os-services?binary=nova-compute')
    providers = admin.get(chosen.url('placement')
                          + '/resource_providers?resources=VCPU:1')
    return ({service['host'] for service in services['services']
             if service['state'] == 'up'}
            & {provider['name']
               for provider in providers['resource_providers']})


def create_zone(admin: rest.Client, compute: str, zone: str,
                hosts: list[str]) -> None:
    """Create an availability zone: an aggregate of the zone's hosts."""
    made = admin.send('POST', compute + '/os-aggregates', {
        'aggregate': {'name': zone, 'availability_zone': zone}})
    url = f'{compute}/os-aggregates/{made["aggregate"]["id"]}/action'
    for host in hosts:
        admin.send('POST', url, {'add_host': {'host': host}})


def main() -> None:
    """Fill the sandbox in the folder sys.argv[1]."""
    where = layout.Layout(sys.argv[1])
    chosen = settings.read(where).settings
    compute = chosen.url('nova') + '/v2.1'
    admin = rest.Client(chosen, 'admin')
    define_hints(admin, chosen.url('glance'))
    if chosen.hypervisors:
        # The hosts have no bridge to a network.
        create_guest(admin, chosen.url('glance'), where)
        create_flavors(admin, compute, GUEST_FLAVORS)
    else:
        create_image(admin, chosen.url('glance'))
        create_network(admin, chosen.url('neutron'))
        create_flavors(admin, compute, FLAVORS)
    wait_for_hosts(admin, chosen)
    for zone, hosts in chosen.zone_hosts().items():
        create_zone(admin, compute, zone, hosts)


if __name__ == '__main__':
    main()
