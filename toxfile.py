# SPDX-License-Identifier: Apache-2.0

"""What tox says beside tox's own lines."""

import logging

from tox import plugin


@plugin.impl
def tox_on_install(tox_env, arguments, section, of_type):
    """Say how much is going to be installed, before the first time."""
    if of_type != 'package' or not tox_env.conf['extras']:
        return
    if not (tox_env.env_site_package_dir() / 'nova').exists():
        logging.warning(
            'installs an OpenStack, at this first time alone: about 80 MB to '
            'download, and up to 700 MB in %s', tox_env.env_dir)
