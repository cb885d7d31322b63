# SPDX-License-Identifier: Apache-2.0


from oslotest import base

from pcloud.backend.aggregates import rows
from pcloud.objects import replacements

LIVE, NONE = (f'since=20261127T180543Z move={move} release=1'
              for move in ('live', 'none'))
STAYS = 'stays=1 host=old'
OLD, OVER = 'host=old', 'over=1 host=old'
WITH_NEW = 'begin=20261127T180543Z replacement=new'
WITH_OTHER = 'begin=20261127T180543Z replacement=other'


class LeftBehindTest(base.BaseTestCase):
    """The rows of the table in `replacements.left_behind`."""

    def left_behind(self, members, kept, reaction=None, drain=None):
        metadata = {'pcloud:node:new': 'n', 'pcloud:host_state:n': 'disabled'}
        for key, value in (('pcloud:replaces:new', kept),
                           ('pcloud:maintained:old', reaction),
                           ('pcloud:drain:new', drain)):
            if value is not None:
                metadata[key] = value
        return replacements.left_behind(rows.Aggregate(
            1, 'uuid', 'name', frozenset(members.split()), metadata))

    def test_recovery(self):
        for value, expected in (
                ('state=done since=20261127T180543Z chosen=enabled', []),
                ('state=gone', ['new'])):
            self.assertEqual(expected, replacements.left_behind(
                rows.Aggregate(1, 'uuid', 'name', frozenset(['new', 'old']), {
                    'pcloud:node:new': 'n', 'pcloud:host_state:n': 'enabled',
                    'pcloud:replaces:new': STAYS,
                    'pcloud:recovery:old': value})))

    def test_table(self):
        for members, kept, reaction, drain, is_left in (
                ('new old', OLD, WITH_NEW, None, False),
                ('new old', OLD, WITH_NEW, LIVE, False),
                ('new old', OLD, None, LIVE, True),
                ('new old', OLD, 'replacement=new', LIVE, True),
                ('new old', OLD, WITH_OTHER, LIVE, True),
                ('new', OLD, WITH_NEW, None, True),
                ('new', OLD, None, NONE, True),
                ('new', OLD, None, LIVE, False),
                ('new old', OVER, None, NONE, True),
                ('new old', OVER, None, LIVE, False),
                ('old', OLD, None, None, False),
                ('new old', 'old', WITH_NEW, None, True),
                ('new old', 'old', WITH_NEW, LIVE, False),
                ('new old', None, None, None, False),
                ('new old', STAYS, None, None, True),
                ('new old', STAYS, WITH_NEW, None, True),
                ('new', STAYS, None, None, False)):
            self.assertEqual(
                ['new'] if is_left else [],
                self.left_behind(members, kept, reaction, drain),
                (members, kept, reaction, drain))
