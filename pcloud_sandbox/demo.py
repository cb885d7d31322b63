# SPDX-License-Identifier: Apache-2.0

"""Tell Pcloud's story on a sandbox: ``python -m pcloud_sandbox.demo``.

Every command is typed as a user types it and its real output is shown. The
exit status is 0 only when each did what the story says.
"""

import argparse
from collections.abc import Callable
import contextlib
import os
import subprocess
import sys
import tempfile

from pcloud_sandbox import errors
from pcloud_sandbox import narrator
from pcloud_sandbox.running import interrupts
from pcloud_sandbox.stories import basic
from pcloud_sandbox.stories import placement
from pcloud_sandbox.stories import services

STORIES = {'basic': basic.tell, 'placement': placement.tell,
           'services': services.tell}


def main(argv: list[str] | None = None) -> int:
    """Tell stories, each story on a new sandbox.

    :returns: the exit status
    """
    parser = argparse.ArgumentParser(prog='demo', description=__doc__)
    parser.add_argument('story', nargs='*', default=['basic'],
                        help=f'which of {", ".join(sorted(STORIES))} '
                             '(default: basic)')
    chosen = parser.parse_args(argv).story
    unknown = set(chosen) - set(STORIES)
    if unknown:
        parser.error(f'there is no story {", ".join(sorted(unknown))}')
    interrupts.end_the_program()
    teller = narrator.Narrator()
    try:
        for name in chosen:
            _tell(teller, STORIES[name])
    except (narrator.PromiseBroken, subprocess.SubprocessError,
            errors.SandboxError) as error:
        print(f'\nNOT AS PROMISED: {error}', file=sys.stderr, flush=True)
        return 1
    except BrokenPipeError:
        # Nobody reads on, as after ``demo | head``.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    print(f'\nAll as promised: {teller.promise_count} of '
          f'{teller.promise_count}.')
    return 0


def _tell(
    teller: narrator.Narrator,
    story: Callable[[narrator.Narrator], None],
) -> None:
    """Tell a story on a sandbox that is gone afterwards, whatever happens.

    :raises PromiseBroken: a command does not do what the story says
    :raises SubprocessError: a user's variables cannot be had, or the sandbox
        cannot be taken down
    :raises SandboxError: an API refuses, or does not answer
    """
    # A second Ctrl-C waits until the sandbox is gone.
    with interrupts.held(), \
            tempfile.TemporaryDirectory(prefix='pcloud-demo-') as folder:
        os.environ['PCLOUD_SANDBOX_DIR'] = os.path.join(folder, 'sandbox')
        try:
            with interrupts.delivered():
                _start(teller)
                story(teller)
        finally:
            teller.forget()
            with contextlib.suppress(OSError):
                print('\nhost$ pcloud-sandbox down', flush=True)
            subprocess.run(['pcloud-sandbox', 'down'], check=True)


def _start(teller: narrator.Narrator) -> None:
    teller.say("""A whole OpenStack starts on this machine: real services, real
        tokens, fake hypervisors. A line says what is waited for. At the end,
        or after Ctrl-C, nothing is left.""")
    teller.run('', 'pcloud-sandbox up')
    teller.say("""From here on the word in front of $ is the user who types.
        Each has logged in with: eval "$(pcloud-sandbox env alice)" """)


if __name__ == '__main__':
    sys.exit(main())
