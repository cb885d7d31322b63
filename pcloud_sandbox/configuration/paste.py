# SPDX-License-Identifier: Apache-2.0

"""The paste configurations that the services install for an operator.

The wheels carry the paste configurations as data files. The folder of the
data files depends on the installer, so the list of files in the metadata
of the distribution is read.
"""

from importlib import metadata
import pathlib
import re

FILTER = """
[filter:pcloud]
paste.filter_factory = pcloud.api:filter_factory
"""


def installed(distribution: str, name: str) -> pathlib.Path:
    """Return the path of a data file of an installed distribution.

    :param name: the end of the path, for example 'etc/nova/api-paste.ini'
    :raises: `FileNotFoundError` when the distribution has no such file
    """
    for path in metadata.files(distribution) or ():
        if path.as_posix().endswith(name):
            return pathlib.Path(path.locate()).resolve()
    raise FileNotFoundError(f'{distribution} came without {name}')


def with_pcloud(text: str) -> str:
    """Return Nova's api-paste.ini with Pcloud in both pipelines."""
    return re.sub(
        r'(?m)^(keystone = .*\bkeystonecontext( legacy_v2_compatible)?)\b',
        r'\1 pcloud', text) + FILTER
