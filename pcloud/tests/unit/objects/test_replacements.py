# SPDX-License-Identifier: Apache-2.0


from oslotest import base

from pcloud.backend import rows
from pcloud.objects import replacements

LIVE, NONE = 't=1 v=live r=1', 't=1 v=none r=1'


class LeftBehindTest(base.BaseTestCase):
    """The rows of the table in `replacements.left_behind`."""

    def left_behind(self, members, kept, reaction=None, drain=None):
        metadata = {'pcloud:node:new': 'n', 'pcloud:host_state:n': 'disabled'}
        for key, value in (('pcloud:replaces:new', kept),
                           ('pcloud:maintained:old', reaction),
                           ('pcloud:drain:n', drain)):
            if value is not None:
                metadata[key] = value
        return replacements.left_behind(rows.Aggregate(
            1, 'uuid', 'name', frozenset(members.split()), metadata))

    def test_table(self):
        for members, kept, reaction, drain, is_left in (
                ('new old', 'old', 'f=a n=new', None, False),
                ('new old', 'old', 'f=a n=new', LIVE, False),
                ('new old', 'old', None, LIVE, True),
                ('new old', 'old', 'f=0 n=new', LIVE, True),
                ('new old', 'old', 'f=a n=other', LIVE, True),
                ('new', 'old', 'f=a n=new', None, True),
                ('new', 'old', None, NONE, True),
                ('new', 'old', None, LIVE, False),
                ('new old', 'over old', None, NONE, True),
                ('new old', 'over old', None, LIVE, False),
                ('old', 'old', None, None, False),
                ('new old', None, None, None, False)):
            self.assertEqual(
                ['new'] if is_left else [],
                self.left_behind(members, kept, reaction, drain),
                (members, kept, reaction, drain))
