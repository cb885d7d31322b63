# SPDX-License-Identifier: Apache-2.0

"""What the servers of a service are started with, on the command line.

The main service has an option of the command for each, and a service of
``--with`` has the same after commas, without the dashes.
"""

from __future__ import annotations

import argparse
import base64
from collections.abc import Callable
from collections.abc import Mapping
import dataclasses
import re
import typing

from osc_lib import exceptions as osc_exceptions

from pcloud.client import arguments

if typing.TYPE_CHECKING:
    from pcloud.client.deploy import plans
    from pcloud.client.deploy import readiness

# The most bytes of user data that Nova takes, in Base64.
_MOST_USER_DATA = 65535
# A comma that ends what stands before; a comma in a value ends nothing.
# A block device has such names itself.
_COMMA = re.compile(r',(?!uuid=|tag=)(?=[a-z-]+=)')


@dataclasses.dataclass(frozen=True)
class _Option:
    """An option of the command, or of a service of --with.

    :ivar read: reads the text that a user gives
    :ivar repeats: whether a user may give the option several times
    """

    name: str
    metavar: str
    read: Callable[[str], typing.Any]
    help: str
    repeats: bool = False


def networks(text: str) -> object:
    """Read the id of a network, "auto" or "none", as in Nova's API.

    :raises argparse.ArgumentTypeError: for any other text
    """
    from pcloud.rules import forms
    if text in ('auto', 'none'):
        return text
    if not forms.is_uuid_in_any_case(text):
        raise argparse.ArgumentTypeError(
            f"'{text}' is neither the id of a network nor auto or none; "
            '--network takes a name too')
    return [{'uuid': text}]


def _network(text: str) -> dict[str, str]:
    return {'uuid': _text(text)}


def _port(text: str) -> dict[str, str]:
    return {'port': _text(text)}


def _text(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError('the value is empty')
    return text


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition('=')
    if not (key and equals):
        raise argparse.ArgumentTypeError(f"'{text}' is not <key>=<value>")
    return key, value


def _ready(text: str) -> readiness.Ready:
    from pcloud.client.deploy import readiness
    ready = (readiness.read(text.removeprefix(readiness.PLACE))
             if text.startswith(readiness.PLACE) else None)
    if ready is None:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not {readiness.PLACE}<key>=<value>")
    return ready


def _device(text: str) -> Mapping[str, typing.Any]:
    from pcloud.client.deploy import devices
    try:
        return devices.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"block device '{text}': {error}")


def _user_data(path: str) -> str:
    """Return the content of a file in Base64."""
    try:
        with open(path, 'rb') as file:
            content = base64.b64encode(file.read()).decode()
    except OSError as error:
        raise argparse.ArgumentTypeError(
            f"user data cannot be read from '{path}': {error.strerror}")
    if len(content) > _MOST_USER_DATA:
        raise argparse.ArgumentTypeError(
            f"'{path}' has {len(content)} bytes in Base64, and user data has "
            f'at most {_MOST_USER_DATA}')
    return content


_OPTIONS = (
    _Option('nic', '<network>', networks,
            'Network of the servers: an id, "auto" or "none" (default: auto)'),
    _Option('network', '<network>', _network,
            'Network of the servers, name or id (repeat for several)',
            repeats=True),
    _Option('port', '<port>', _port,
            'Port that is there already, name or id, for one server alone '
            '(repeat for several)', repeats=True),
    _Option('availability-zone', '<zone>', _text,
            'Zone of the servers (default: any)'),
    _Option('key-name', '<key pair>', _text, 'Key pair of the servers'),
    _Option('user-data', '<file>', _user_data,
            'File with the user data of the servers'),
    _Option('security-group', '<group>', _text,
            'Security group of the servers, name or id (repeat for several)',
            repeats=True),
    _Option('boot-from-volume', '<GB>', arguments.positive,
            'Have the root disk on a new volume of this size, which is made '
            'of the image and is deleted with the server'),
    _Option('volume', '<volume>', _text,
            'Have the root disk on this volume (name or id), which is there '
            'already, in place of an image; for one server alone'),
    _Option('block-device', '<key>=<value>[,...]', _device,
            'Further block device of the servers, as "openstack server '
            'create" has it (repeat for several)', repeats=True),
    _Option('property', '<key>=<value>', _pair,
            'Property of the servers (repeat for several)', repeats=True),
    _Option('hint', '<key>=<value>', _pair,
            'Hint for the scheduler (repeat for several)', repeats=True),
    _Option('constraints', '<constraints>', _text,
            'Machine constraints of the servers, such as "cpu=8 ram=16G"'),
    _Option('ready', 'metadata:<key>=<value>', _ready,
            'Go on with the next server when the metadata of each server have '
            'this item, which the guest sets (default: when the server is '
            'active)'),
)
_BY_NAME = {option.name: option for option in _OPTIONS}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the main service."""
    for option in _OPTIONS:
        parser.add_argument(
            f'--{option.name}', metavar=option.metavar, type=option.read,
            help=option.help, dest=option.name,
            action='append' if option.repeats else 'store')


def main(parsed_args: argparse.Namespace) -> plans.Part:
    """Return the main service.

    :raises osc_lib.exceptions.CommandError: without an image and without a
        volume, or with both
    """
    try:
        return _part(
            parsed_args.name, parsed_args.image or '', parsed_args.flavor,
            {name: value if _BY_NAME[name].repeats else [value]
             for name, value in vars(parsed_args).items()
             if name in _BY_NAME and value is not None})
    except argparse.ArgumentTypeError as error:
        raise osc_exceptions.CommandError(str(error)) from None


def part(text: str) -> plans.Part:
    """Read a service of --with.

    ``<name>=<image>:<flavor>``, and options after commas. The image is left
    out where the options have a volume.

    :raises argparse.ArgumentTypeError: for what is not in this form
    """
    kind, *written = _COMMA.split(text)
    service, _, image_and_flavor = kind.partition('=')
    # A name of an image may have a colon, as names of containers do.
    image, colon, flavor = image_and_flavor.rpartition(':')
    on_volume = colon and any(each.startswith('volume=') for each in written)
    if not (service and (image or on_volume) and flavor):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not <name>=<image>:<flavor>[,<option>=<value>...]")
    values: dict[str, list] = {}
    for name, _, value in (each.partition('=') for each in written):
        option = _BY_NAME.get(name)
        if option is None:
            raise argparse.ArgumentTypeError(
                f"'{name}' in '{text}' is none of {', '.join(_BY_NAME)}")
        if name in values and not option.repeats:
            raise argparse.ArgumentTypeError(
                f"'{name}' is given twice in '{text}'")
        values.setdefault(name, []).append(option.read(value))
    return _part(service, image, flavor, values)


def _part(service: str, image: str, flavor: str,
          values: Mapping[str, list]) -> plans.Part:
    """Return a service, from option -> values."""
    from pcloud.client.deploy import devices
    from pcloud.client.deploy import plans
    from pcloud.client import servers
    from pcloud.rules.placing import hints as hint_rules

    def only(name: str, default: typing.Any) -> typing.Any:
        return values.get(name, [default])[0]

    volume = only('volume', '')
    if bool(image) == bool(volume):
        raise argparse.ArgumentTypeError(
            f"'{service}' needs an image or a volume, and not both")
    named = [each for name in ('network', 'port')
             for each in values.get(name, ())]
    if named and 'nic' in values:
        raise argparse.ArgumentTypeError(
            f"'{service}' has nic beside network or port; give all of them as "
            'network and port')

    hints: dict[str, object] = {}
    for key, value in values.get('hint', ()):
        known = hints.get(key)
        hints[key] = value if known is None else [
            *(known if isinstance(known, list) else [known]), value]
    constraints = only('constraints', None)
    if constraints is not None:
        hints[hint_rules.CONSTRAINTS] = constraints
    options = servers.Options(
        networks=named or only('nic', None), key_pair=only('key-name', ''),
        user_data=only('user-data', ''), zone=only('availability-zone', ''),
        security_groups=tuple(values.get('security-group', ())),
        volume_size=only('boot-from-volume', None),
        metadata=dict(values.get('property', ())), hints=hints,
        devices=(*([devices.root(volume)] if volume else []),
                 *values.get('block-device', ())))
    return plans.Part(service, image, flavor, options, only('ready', None))
