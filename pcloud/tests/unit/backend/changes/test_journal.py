# SPDX-License-Identifier: Apache-2.0

"""The journal's values, as changes write them and as hands may."""

import ddt
import testtools

from pcloud.backend.changes import journal


@ddt.ddt
class ReleasedTest(testtools.TestCase):

    @ddt.data(('1 p', (1, 'p')), ('0 p', (0, 'p')),
              ('9999999 a project', (9999999, 'a project')),
              ('10000000 p', None), ('1 ', None), ('1', None), (' p', None),
              ('-1 p', None), ('x p', None), ('1 p\n', None), ('', None))
    @ddt.unpack
    def test_parse(self, text, expected):
        found = journal.Released.parse(text)
        self.assertEqual(
            expected, found and (found.units, found.project_id))
        if found:
            self.assertEqual(text, str(found))
