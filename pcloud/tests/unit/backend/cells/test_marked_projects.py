# SPDX-License-Identifier: Apache-2.0

from oslotest import base

from pcloud.backend.cells import marked_projects

_MINUTE = 60


class LookTest(base.BaseTestCase):
    """Which rows of servers' metadata a look goes through."""

    def test_looks_one_after_the_other(self):
        look = marked_projects._Look()
        for now, newest, after in (
                # The first look goes through all rows.
                (1000, 50, 0),
                # Then what has been added.
                (1010, 50, 50), (1059, 70, 50),
                # A row that was being written at the first look may have a
                # small number.
                (1060, 80, 0),
                (1070, 90, 80), (1119, 90, 80),
                # What was being written at 1060.
                (1120, 100, 50), (1130, 100, 100),
                (9999, 200, 80)):
            with self.subTest(now=now):
                found, look = look.following(newest, now)
                self.assertEqual(after, found)

    def test_numbers_that_begin_anew(self):
        _, look = marked_projects._Look().following(50, 1000)
        _, look = look.following(60, 1000 + _MINUTE)
        after, look = look.following(7, 1001 + _MINUTE)
        self.assertEqual(0, after)
        self.assertEqual(frozenset(), look.projects)
        after, _ = look.following(8, 1002 + _MINUTE)
        self.assertEqual(7, after)
