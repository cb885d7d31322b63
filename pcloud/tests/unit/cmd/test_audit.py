# SPDX-License-Identifier: Apache-2.0

"""The lines of ``pcloud-manage audit``."""

import argparse
import contextlib
import io
from unittest import mock

import testtools

from pcloud.audit import all_checks
from pcloud.audit import findings
from pcloud.cmd import audit


class TextTest(testtools.TestCase):

    def test_lines(self):
        """What has no host or key has no place for the name of one."""
        lost = findings.Finding('lost', 'Pcloud:1', 'node-1', 'it is lost')
        gap = findings.Finding('gap', 'pcloud:key:a', '', '1 host lacks it')
        command = argparse.Namespace(fix=False, format='text', settle=0)
        out = io.StringIO()
        with mock.patch.object(all_checks, 'find', return_value=[lost]), (
                mock.patch.object(all_checks, 'gaps', return_value=[gap])), (
                contextlib.redirect_stdout(out)):
            self.assertEqual(audit.FOUND, audit.run(command))
        self.assertEqual([
            'lost: Pcloud:1: node-1: it is lost',
            '    an administrator has to decide',
            'gap: pcloud:key:a: 1 host lacks it',
            '    an administrator has to decide'],
            out.getvalue().splitlines())
