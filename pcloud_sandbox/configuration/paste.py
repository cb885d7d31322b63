# SPDX-License-Identifier: Apache-2.0

"""The paste configurations that the services install for an operator.

The wheels carry the paste configurations as data files. The folder of the
data files depends on the installer, so the list of files in the metadata
of the distribution is read. Packages of Debian have no such list, and keep
the files as they came in folders of their own.
"""

from importlib import metadata
import pathlib
import re

# Where packages of Debian keep data files.
_SHARED = pathlib.Path('/usr/share')

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
    packaged = _packaged(distribution, name)
    if packaged.is_file():
        return packaged
    raise FileNotFoundError(f'{distribution} came without {name}')


def _packaged(distribution: str, name: str) -> pathlib.Path:
    """Return the path at which a package of Debian has a data file.

    What an operator may change comes twice: in ``/etc``, and unchanged.
    """
    if name.startswith('etc/'):
        _, project, rest = name.split('/', 2)
        return _SHARED / f'{project}-common' / rest
    return _SHARED / distribution / name


def with_pcloud(text: str) -> str:
    """Return Nova's api-paste.ini with Pcloud in both pipelines."""
    return re.sub(
        r'(?m)^(keystone = .*\bkeystonecontext( legacy_v2_compatible)?)\b',
        r'\1 pcloud', text) + FILTER
