# SPDX-License-Identifier: Apache-2.0

"""Block devices of the servers of a service, as users write them.

A device is written, and completed, as ``openstack server create
--block-device`` does.
"""

from collections.abc import Mapping
from collections.abc import Sequence
import typing

from pcloud.client import servers
from pcloud.rules import forms

_SOURCES = servers.VOLUME, 'image', 'snapshot', servers.BLANK
_DESTINATIONS = servers.LOCAL, servers.VOLUME
_YES = {'true': True, 'yes': True, '1': True,
        'false': False, 'no': False, '0': False}
_NUMBERS = 'boot_index', 'volume_size'
_KEYS = ('uuid', 'source_type', 'destination_type', 'disk_bus', 'device_type',
         'device_name', 'volume_size', 'guest_format', 'boot_index',
         'delete_on_termination', 'tag', 'volume_type')


def read(text: str) -> Mapping[str, typing.Any]:
    """Read a further block device, such as ``source_type=blank,...``.

    :returns: the device in the form of Nova's API
    :raises ValueError: with what is wrong, in words
    """
    device: dict[str, typing.Any] = {}
    for pair in text.split(','):
        key, equals, value = pair.partition('=')
        if not (equals and value):
            raise ValueError(f"'{pair}' is not <key>=<value>")
        if key not in _KEYS:
            raise ValueError(f"'{key}' is none of {', '.join(_KEYS)}")
        if key in device:
            raise ValueError(f"'{key}' is given twice")
        device[key] = value
    for key in _NUMBERS:
        if key in device:
            device[key] = _number(key, device[key])
    source = _one_of(device, 'source_type', servers.BLANK, _SOURCES)
    destination = _one_of(
        device, 'destination_type', servers.LOCAL if (
            source == servers.BLANK) else servers.VOLUME, _DESTINATIONS)
    deleted = str(device.get('delete_on_termination', '')).lower()
    if deleted:
        if deleted not in _YES:
            raise ValueError(
                f"delete_on_termination: '{deleted}' is not true or false")
        device['delete_on_termination'] = _YES[deleted]
    elif destination == servers.LOCAL:
        device['delete_on_termination'] = True
    _check(device, source)
    return device


def root(volume: str) -> Mapping[str, typing.Any]:
    """Return the root disk that is a volume which is there already."""
    return {'uuid': volume, 'boot_index': 0, 'source_type': servers.VOLUME,
            'destination_type': servers.VOLUME}


def given(devices: Sequence[Mapping[str, typing.Any]]) -> list[str]:
    """Return the ids of the volumes that are there already."""
    return [device['uuid'] for device in devices
            if device['source_type'] == servers.VOLUME]


def _number(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{key}: '{text}' is not a whole number") from None


def _one_of(device: dict[str, typing.Any], key: str, default: str,
            values: Sequence[str]) -> str:
    value = device.setdefault(key, default)
    if value not in values:
        raise ValueError(f"{key}: '{value}' is none of {', '.join(values)}")
    return value


def _check(device: Mapping[str, typing.Any], source: str) -> None:
    if device.get('boot_index') == 0:
        raise ValueError(
            'the device with boot_index 0 is the root disk, which is given '
            'by an image, boot-from-volume or volume')
    if source == servers.BLANK:
        if 'uuid' in device:
            raise ValueError('a blank device has no uuid')
        if 'volume_size' not in device:
            raise ValueError('a blank device needs volume_size')
    elif not forms.is_uuid_in_any_case(device.get('uuid', '')):
        raise ValueError(f"a device of source_type {source} needs uuid, the "
                         'id of what the device is made of')
