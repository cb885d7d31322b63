# SPDX-License-Identifier: Apache-2.0

"""The local.conf of the box: the sample, and what only the box needs."""

import pathlib

from pcloud.tests.devstack import options as box_options

_SAMPLE = pathlib.Path(__file__).parents[3] / 'devstack/local.conf.sample'
_SECTION = '[[local|localrc]]\n'
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

    :param sample: the sample of the repository, which takes the plugin from
        where the box has this checkout
    """
    lines = ''.join(f'{line}\n' for line in options.localrc)
    return (f'{_SECTION}{_BOOKEND.format(BEFORE)}\n'
            f'{sample}\n{_SECTION}{_BOX}'
            f'{lines}{_BOOKEND.format(AFTER)}')


def write(options: box_options.Options, root: pathlib.Path) -> None:
    """Write local.conf and the image into a root file system."""
    (root / 'opt/stack/devstack/local.conf').write_text(
        compose(_SAMPLE.read_text(), options))
    (root / IMAGE).write_bytes(bytes(2 ** 16))
