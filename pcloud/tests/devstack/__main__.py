# SPDX-License-Identifier: Apache-2.0

"""``python -m pcloud.tests.devstack``."""

from collections.abc import Iterator
import contextlib
import os
import pathlib
import signal
import sys
import time
import types
from typing import NoReturn

from pcloud.tests.devstack import box as running_box
from pcloud.tests.devstack import local_conf
from pcloud.tests.devstack import needs
from pcloud.tests.devstack import options as box_options
from pcloud.tests.devstack import progress as box_progress
from pcloud.tests.devstack import repositories
from pcloud.tests.devstack import root_file_system
from pcloud.tests.devstack import stacking

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Folders of the cache -> what the box has there.
_CACHED = {'apt': '/var/cache/apt/archives'}


def main() -> int:
    """Run all phases, and leave nothing but logs and the cache.

    :returns: the exit status, 1 when a phase failed or something was left,
        2 when something is missing, 128 and more after a signal
    """
    options = box_options.parse(sys.argv[1:], os.environ)
    refusals = list(needs.refusals(needs.look(options), options))
    if refusals:
        print('\n'.join(refusals), file=sys.stderr)
        return 2
    for number in _SIGNALS:
        signal.signal(number, _end)
    if repositories.is_changed():
        box_progress.tell('What is not committed here is not tested.')
    progress = box_progress.Progress(_logs(options))
    try:
        return _run(options, progress)
    finally:
        box_progress.tell(f'\n{progress.table()}\n\n'
                          f'Nothing is left running. Logs: {progress.folder}')


def _end(number: int, _: types.FrameType | None) -> NoReturn:
    """End this process; further signals would disturb the tidying."""
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def _logs(options: box_options.Options) -> pathlib.Path:
    folder = options.logs or options.cache / 'logs' / time.strftime(
        '%Y-%m-%d-%H%M%S')
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(options: box_options.Options,
         progress: box_progress.Progress) -> int:
    """Build a box, go through the phases, and tell what was found."""
    try:
        with _box(options, progress) as box:
            found = _through_phases(box, progress)
            if options.keep:
                box_progress.tell(f'The way in: {box.way_in()}\n'
                                  'Ctrl-C ends the box.')
                signal.pause()
    except (root_file_system.Busy, running_box.BoxError) as error:
        found = [str(error)]
        box_progress.tell(str(error))
    return 1 if found else 0


def _through_phases(box: running_box.Box,
                    progress: box_progress.Progress) -> list[str]:
    try:
        found = stacking.run(box, progress)
    except box_progress.PhaseFailed as error:
        found = [str(error)]
    stacking.keep_journal(box, progress.folder)
    for each in found:
        box_progress.tell(each)
    return found


@contextlib.contextmanager
def _box(options: box_options.Options,
         progress: box_progress.Progress) -> Iterator[running_box.Box]:
    """Build and start a box, whose files are removed at the end."""
    with root_file_system.place(options.cache) as root:
        with progress.phase('root') as log:
            root_file_system.build(options, root, log)
        with progress.phase('repositories'):
            repositories.clone(options, root / root_file_system.STACK_HOME)
            local_conf.write(options, root)
            root_file_system.give_to_stack(root)
        binds = []
        for name, place in _CACHED.items():
            (options.cache / name).mkdir(exist_ok=True)
            binds.append((options.cache / name, place))
        with running_box.running(root, binds,
                                 progress.folder / 'box.log') as box:
            box_progress.tell(f'The way in: {box.way_in()}')
            yield box


if __name__ == '__main__':
    sys.exit(main())
