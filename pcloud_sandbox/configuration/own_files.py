# SPDX-License-Identifier: Apache-2.0


"""The files of Pcloud that are no modules."""

import pathlib

import pcloud
from pcloud_sandbox.configuration import paste

HINT_DEFINITIONS = 'etc/pcloud/metadefs/compute-pcloud-hints.json'


def path(name: str) -> pathlib.Path:
    """Return the path of a file: in a source tree, or installed.

    :param name: relative to the source tree
    :raises: `FileNotFoundError` when the distribution has no such file
    """
    beside = pathlib.Path(pcloud.__file__).parents[1] / name
    if beside.exists():
        return beside
    return paste.installed('openstack-pcloud', name)
