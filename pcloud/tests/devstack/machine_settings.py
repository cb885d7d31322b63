# SPDX-License-Identifier: Apache-2.0

"""What the machine says about the way to archives and indexes.

Proxies, the options of pip and of apt, and certificates are the machine's
own. The box is handed all of them, except for files and folders, which are
not in the box.
"""

import ast
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys

BUNDLE = '/etc/ssl/certs/ca-certificates.crt'
_PROXY = re.compile(r'(?i)(http|https|ftp|no|all)_proxy$')
_OF_APT = re.compile(r'Acquire::(http|https|ftp|Check-\w)')
_CERTIFICATE = re.compile(
    r'-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----', re.DOTALL)


def proxies(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of an environment that name proxies."""
    return {name: value for name, value in sorted(environment.items())
            if _PROXY.match(name)}


def pip_options(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield section, name and value of the options of pip for the box.

    Variables of the environment come last, as pip lists the variables, and
    belong to the section "global".

    :param lines: the output of "pip config list"
    """
    yield 'global', 'cert', BUNDLE
    for line in lines:
        key, _, value = line.partition('=')
        section, _, name = key.partition('.')
        words = [word for word in ast.literal_eval(value).split()
                 if not word.startswith(('/', 'file:'))]
        if words and not name.endswith('cert'):
            yield section.replace(':env:', 'global'), name, '\n    '.join(
                words)


def pip_conf(lines: Iterable[str]) -> str:
    """Return a pip.conf; see :func:`pip_options`."""
    sections: dict[str, dict[str, str]] = {}
    for section, name, value in pip_options(lines):
        sections.setdefault(section, {})[name.lstrip('.')] = value
    return ''.join(
        f'[{section}]\n' + ''.join(f'{name} = {value}\n'
                                   for name, value in options.items())
        for section, options in sections.items())


def apt_conf(lines: Iterable[str]) -> str:
    """Return what is said of archives in the output of "apt-config dump"."""
    return ''.join(f'{line}\n' for line in lines if _OF_APT.match(line) and
                   not line.endswith(' "";'))


def more_certificates(machine: str, box: str) -> list[str]:
    """Return the certificates of one bundle that another has not."""
    there = set(_CERTIFICATE.findall(box))
    return [each for each in _CERTIFICATE.findall(machine)
            if each not in there]


def hand_in(root: pathlib.Path) -> None:
    """Write the settings of this machine into a root file system."""
    (root / 'etc/environment').write_text(''.join(
        f'{name}="{value}"\n' for name, value in proxies(os.environ).items()))
    (root / 'etc/pip.conf').write_text(pip_conf(_lines(
        sys.executable, '-m', 'pip', 'config', 'list')))
    if shutil.which('apt-config'):
        (root / 'etc/apt/apt.conf.d/90machine').write_text(
            apt_conf(_lines('apt-config', 'dump')))
    _hand_in_certificates(root)


def _hand_in_certificates(root: pathlib.Path) -> None:
    bundle = (os.environ.get('REQUESTS_CA_BUNDLE') or
              ssl.get_default_verify_paths().cafile)
    if bundle is None:
        return
    more = more_certificates(pathlib.Path(bundle).read_text(),
                             (root / BUNDLE.lstrip('/')).read_text())
    folder = root / 'usr/local/share/ca-certificates'
    for number, certificate in enumerate(more):
        (folder / f'machine-{number}.crt').write_text(certificate + '\n')
    subprocess.run(['chroot', str(root), 'update-ca-certificates'],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=True)


def _lines(*command: str) -> list[str]:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          check=True).stdout.splitlines()
