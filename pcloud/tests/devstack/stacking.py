# SPDX-License-Identifier: Apache-2.0

"""What is done with devstack in the box, and compared."""

import pathlib
import re

from pcloud.tests.devstack import box as running_box
from pcloud.tests.devstack import leftovers
from pcloud.tests.devstack import progress as box_progress

_STACK = 'cd devstack && ./stack.sh'
_VENV = '/opt/stack/data/venv/bin'
# With CI in the environment, tests that find too few hosts fail.
_TESTS = f"""\
{_VENV}/pip install --quiet --constraint requirements/upper-constraints.txt \
    --requirement pcloud-source/test-requirements.txt &&
cd pcloud-source &&
CI=1 OS_CLOUD=devstack-admin {_VENV}/stestr --test-path=pcloud/tests/cloud \
    run --serial --slowest
"""
_PHASES = {
    'stack': _STACK,
    'tests': _TESTS,
    'unstack': 'cd devstack && ./unstack.sh',
    'stack-again': _STACK,
    'clean': 'cd devstack && ./clean.sh'}
# clean.sh leaves packages and repositories, and says so. The box's own files
# are where the box has put them. stack.sh writes the commands that the client
# has at the time into a file, and no script of devstack removes the file.
_KEPT = re.compile(r'/opt/stack/(pcloud(-source)?|records|bookend\S*|devstack'
                   r'|logs|\.cache)(/|$)|/var/(log|cache)/'
                   r'|/etc/bash_completion\.d/osc\.bash_completion$')
_NAMED = ("sudo find /etc /opt /root /usr /var -iname '*pcloud*' -prune -print"
          "; sudo grep --recursive --binary-files=without-match "
          "--files-with-matches --ignore-case pcloud /etc /usr/local || true")


def run(box: running_box.Box, progress: box_progress.Progress) -> list[str]:
    """Go through all phases.

    :returns: what is left of Pcloud that should not be; empty when all is
        well
    :raises PhaseFailed: a phase has not come to its end
    """
    before = set(packages(box))
    for name, command in _PHASES.items():
        with progress.phase(name) as log:
            status = box.run(command, log)
        if status:
            raise box_progress.PhaseFailed(
                f'{box_progress.tail(log)}\n\n{name} has ended with {status}')
    with progress.phase('comparison') as log:
        found = leftovers.faults(leftovers.phases(
            box.root / 'opt/stack/records'))
        found += [f'left: {path}' for path in box.read(_NAMED).splitlines()
                  if not _KEPT.match(path)]
        of_devstack = sorted(set(packages(box)) - before)
        log.write_text('\n'.join(
            (*found, f'{len(of_devstack)} packages that clean.sh leaves:',
             *of_devstack, '')))
    return found


def packages(box: running_box.Box) -> list[str]:
    """Return the packages that are installed in a box."""
    return box.read("dpkg-query --show --showformat '${Package}\\n'"
                    ).splitlines()


def keep_journal(box: running_box.Box, folder: pathlib.Path) -> None:
    """Write the journal of the services into a folder of logs."""
    box.run('sudo journalctl --output=short-precise --no-pager',
            folder / 'journal.log')
