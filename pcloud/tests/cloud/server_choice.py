# SPDX-License-Identifier: Apache-2.0

"""The image, the flavor and the network of the tests' servers."""

import dataclasses
import typing

import openstack

from pcloud.tests.cloud import options


@dataclasses.dataclass(frozen=True)
class ServerChoice:
    """What the servers of the tests are made from.

    :ivar image: the image
    :ivar flavor: the flavor
    :ivar networks: the networks as the compute API takes them
    """

    image: typing.Any
    flavor: typing.Any
    networks: str | list[dict[str, str]]

    @property
    def nic(self) -> str:
        """The value of the option ``--nic`` of the commands of servers."""
        return (self.networks if isinstance(self.networks, str)
                else f'net-id={self.network}')

    @property
    def network(self) -> str:
        """The value of the option ``--nic`` of the commands of services."""
        return (self.networks if isinstance(self.networks, str)
                else self.networks[0]['uuid'])


def choose(cloud: openstack.connection.Connection) -> ServerChoice:
    """Choose from a cloud, as the environment says or else the smallest.

    :raises: `AssertionError` when the cloud lacks what is wanted
    """
    image = _image(cloud)
    return ServerChoice(image, _flavor(cloud, image), _networks(cloud))


def _image(cloud: openstack.connection.Connection) -> typing.Any:
    wanted = options.image()
    there = [each for each in cloud.image.images(status='active')
             if each.visibility in ('public', 'community')]
    if wanted is not None:
        return _named(wanted, there, 'PCLOUD_TEST_IMAGE', 'public image')
    # What a kernel needs beside it boots by itself no more than the kernel.
    whole = [each for each in there
             if each.disk_format not in ('aki', 'ari')]
    if not whole:
        raise AssertionError(
            'the cloud has no public image; upload one, or name another with '
            'PCLOUD_TEST_IMAGE')
    return min(whole, key=lambda each: each.size or 0)


def _flavor(cloud: openstack.connection.Connection,
            image: typing.Any) -> typing.Any:
    wanted = options.flavor()
    there = list(cloud.compute.flavors(is_public=None))
    if wanted is not None:
        return _named(wanted, there, 'PCLOUD_TEST_FLAVOR', 'flavor')
    # Nova's default policies keep flavors without a disk for volumes.
    fitting = [each for each in there
               if each.is_public and each.disk > 0
               and each.ram >= (image.min_ram or 0)
               and each.disk >= (image.min_disk or 0)]
    if not fitting:
        raise AssertionError(
            f'the cloud has no public flavor with a disk that fits image '
            f'{image.name}; name another with PCLOUD_TEST_FLAVOR')
    return min(fitting, key=lambda each: (each.ram, each.vcpus, each.disk))


def _networks(
    cloud: openstack.connection.Connection,
) -> str | list[dict[str, str]]:
    wanted = options.network()
    if wanted == options.NO_NETWORK:
        return options.NO_NETWORK
    network = _named(wanted, list(cloud.network.networks()),
                     'PCLOUD_TEST_NETWORK', 'network')
    return [{'uuid': network.id}]


def _named(wanted: str, there: list, variable: str, kind: str) -> typing.Any:
    found = [each for each in there if wanted in (each.id, each.name)]
    if len(found) != 1:
        names = ', '.join(sorted(each.name for each in there)) or 'none'
        raise AssertionError(
            f'{variable}={wanted}: the cloud has {len(found)} of this name '
            f'or id, not one; each {kind} of the cloud: {names}')
    return found[0]
