# SPDX-License-Identifier: Apache-2.0

"""The local.conf of the box: the sample, and what only the box needs."""

import pathlib

from pcloud.tests.devstack import options as box_options
from pcloud.tests.devstack import repositories

_SAMPLE = pathlib.Path(__file__).parents[3] / 'devstack/local.conf.sample'
_SECTION = '[[local|localrc]]\n'
# Where users get the plugin from; the box tests this checkout.
_PUBLISHED = 'https://opendev.org/x/pcloud'
_CLONE = f'file:///opt/stack/{repositories.PLUGIN}'
_BOOKEND = 'enable_plugin {} file:///opt/stack/bookend-source main\n'
# The first and the last plugin record what the plugins between them change.
BEFORE, AFTER = 'bookend-before', 'bookend-after'
# No server starts, so that an image needs no content.
IMAGE = 'opt/stack/nothing.img'
_BOX = f"""\
DOWNLOAD_DEFAULT_IMAGES=False
IMAGE_URLS=file:///{IMAGE}
LOGFILE=/opt/stack/logs/stack.sh.log
LOG_COLOR=False
# One process answers the commands of stack.sh, as in jobs of devstack.
enable_service openstack-cli-server
"""


def compose(sample: str, options: box_options.Options) -> str:
    """Return a local.conf.

    :param sample: the sample of the repository
    :raises ValueError: the sample takes the plugin from elsewhere
    """
    if sample.count(_PUBLISHED) != 1:
        raise ValueError(f'the sample does not name {_PUBLISHED} once')
    lines = ''.join(f'{line}\n' for line in options.localrc)
    return (f'{_SECTION}{_BOOKEND.format(BEFORE)}\n'
            f'{sample.replace(_PUBLISHED, _CLONE)}\n{_SECTION}{_BOX}'
            f'{lines}{_BOOKEND.format(AFTER)}')


def write(options: box_options.Options, root: pathlib.Path) -> None:
    """Write local.conf and the image into a root file system."""
    (root / 'opt/stack/devstack/local.conf').write_text(
        compose(_SAMPLE.read_text(), options))
    (root / IMAGE).write_bytes(bytes(2 ** 16))
