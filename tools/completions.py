# SPDX-License-Identifier: Apache-2.0

"""Write the completions of the operators' commands for shells.

    python tools/completions.py doc/build/share

The folder gets the subfolders where bash, zsh and fish look for completions
below ``/usr/share``.
"""

import argparse
import pathlib
import sys

import shtab

from pcloud.cmd import manage
from pcloud.cmd import status
from pcloud_sandbox import cli

# Shell -> where the shell looks for the completions of a command.
PLACES = {
    'bash': 'bash-completion/completions/{}',
    'zsh': 'zsh/site-functions/_{}',
    'fish': 'fish/vendor_completions.d/{}.fish',
}
PARSERS = (manage.build_parser, cli.build_parser, status.build_parser)


def _parsers() -> list[argparse.ArgumentParser]:
    return [build() for build in PARSERS]


def write(folder: pathlib.Path) -> list[pathlib.Path]:
    """Write a file for each command and shell, and return the files."""
    written = []
    for parser in _parsers():
        for shell, place in PLACES.items():
            path = folder / place.format(parser.prog)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(shtab.complete(parser, shell))
            written.append(path)
    return written


if __name__ == '__main__':
    write(pathlib.Path(sys.argv[1]))
