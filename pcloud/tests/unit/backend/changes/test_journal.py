# SPDX-License-Identifier: Apache-2.0

"""The journal's values, as changes write them and as hands may."""

import ddt
import testtools

from pcloud.backend.changes import journal


@ddt.ddt
class ReleasedTest(testtools.TestCase):

    @ddt.data(('units=1 project=p', (1, 'p')),
              ('units=0 project=p', (0, 'p')),
              ('units=9999999 project=a project', (9999999, 'a project')),
              ('units=1 project=', None), ('units=1', None),
              ('project=p', None), ('units=-1 project=p', None),
              ('units=x project=p', None), ('units=1 project=p\n', None),
              ('units=01 project=p', None), ('', None))
    @ddt.unpack
    def test_text(self, text, expected):
        found = journal.Released.known(text)
        self.assertEqual(expected, found and (found.units, found.project))
        if found:
            self.assertEqual(text, found.text())
