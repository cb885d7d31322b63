# SPDX-License-Identifier: Apache-2.0

"""The completions of the operators' commands, in a real shell."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import ddt
import testtools

try:
    import shtab
except ImportError:
    shtab = None

ROOT = pathlib.Path(__file__).parents[4]
# Sources the completions, and completes the last of the words.
COMPLETE = r'''
source "$1"; shift
function=$(complete -p "$1" | sed 's/.*-F \([^ ]*\).*/\1/')
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
$function "$1" "${@: -1}" ''
printf '%s\n' "${COMPREPLY[@]}"
'''


@ddt.ddt
@testtools.skipIf(shtab is None, 'shtab makes the completions')
@testtools.skipIf(shutil.which('bash') is None, 'bash completes')
class CompletionsTest(testtools.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='pcloud-complete-'))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([sys.executable, ROOT / 'tools' / 'completions.py',
                        cls.folder], check=True)

    @ddt.unpack
    @ddt.data(
        (['pcloud-manage', ''], {'audit', 'explain', 'simulate-policy'}),
        (['pcloud-manage', 'audit', '--f'], {'--fix', '--format'}),
        (['pcloud-manage', '--v'], {'--version'}),
        (['pcloud-sandbox', 'st'], {'status', 'stop', 'start'}),
        (['pcloud-sandbox', 'up', '--h'], {'--help', '--hosts'}),
        (['pcloud-status', 'upgrade', ''], {'check'}))
    def test_bash(self, words, expected):
        place = self.folder / 'bash-completion' / 'completions' / words[0]
        done = subprocess.run(
            ['bash', '--norc', '-c', COMPLETE, 'bash', place, *words],
            text=True, stdout=subprocess.PIPE, check=True)
        self.assertLessEqual(expected, set(done.stdout.split()))

    @ddt.data('zsh/site-functions/_{}', 'fish/vendor_completions.d/{}.fish')
    def test_other_shells(self, place):
        for name in ('pcloud-manage', 'pcloud-sandbox', 'pcloud-status'):
            text = (self.folder / place.format(name)).read_text()
            self.assertIn(name, text)
