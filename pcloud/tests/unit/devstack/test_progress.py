# SPDX-License-Identifier: Apache-2.0

"""What a run tells of its phases."""

import contextlib
import io
import pathlib
import tempfile

import ddt
import testtools

from pcloud.tests.devstack import progress


@ddt.ddt
class ProgressTest(testtools.TestCase):

    @ddt.data((0, ' 0:00'), (9.9, ' 0:09'), (83, ' 1:23'), (3600, '60:00'))
    @ddt.unpack
    def test_minutes(self, seconds, expected):
        self.assertEqual(expected, progress.minutes(seconds))

    def test_logs_and_table(self):
        with tempfile.TemporaryDirectory() as name, \
                contextlib.redirect_stdout(io.StringIO()) as told:
            folder = pathlib.Path(name)
            run = progress.Progress(folder)
            with run.phase('root') as first:
                pass
            # The phase that fails has a time as well.
            with contextlib.suppress(ZeroDivisionError), run.phase('stack'):
                1 / 0
        self.assertEqual(folder / '01-root.log', first)
        self.assertIn(f' stack: {folder / "02-stack.log"}\n',
                      told.getvalue())
        run.seconds = {'root': 61, 'stack': 600}
        self.assertEqual(['root 1:01', 'stack 10:00', 'all 11:01'],
                         [' '.join(line.split())
                          for line in run.table().splitlines()])
