# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Reading many rows as a few strings."""

import sqlalchemy as sa
from sqlalchemy import orm
import testtools

from pcloud.backend import bulk

_BASE = orm.declarative_base()


class _Row(_BASE):
    __tablename__ = 'rows'
    id = sa.Column(sa.Integer, primary_key=True)
    host = sa.Column(sa.String(255))


class _Cut:
    """A database that cuts strings short, as MySQL does, and tells nobody."""

    def __init__(self):
        self.values = []

    def step(self, value, separator):
        self.values.append(value)
        self.separator = separator

    def finalize(self):
        return self.separator.join(self.values)[:100]


class DistinctTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        engine = sa.create_engine('sqlite://')
        self.addCleanup(engine.dispose)
        _BASE.metadata.create_all(engine)
        self.session = orm.Session(engine)
        self.addCleanup(self.session.close)
        self.statements = []
        sa.event.listen(
            engine, 'before_cursor_execute',
            lambda connection, cursor, statement, *rest:
                self.statements.append(statement))

    def _read(self, *hosts):
        self.session.add_all(_Row(host=host) for host in hosts)
        self.session.flush()
        self.statements.clear()
        return bulk.distinct(self.session, _Row.host, _Row.id,
                             _Row.host != 'left out')

    def test_all_are_found_with_one_query(self):
        hosts = [f'host-{number:04}.example.org' for number in range(5000)]
        self.assertEqual(frozenset(hosts),
                         self._read(*hosts, *hosts[:10], 'left out'))
        self.assertEqual(1, len(self.statements))

    def test_none(self):
        self.assertEqual(frozenset(), self._read('left out'))
        self.assertEqual(frozenset(), self._read(None))

    def test_case_and_other_letters_are_kept(self):
        hosts = {'Host', 'host', 'a,b', '', 'h\u00f6st'}
        self.assertEqual(hosts, self._read(*hosts, None))
        self.assertEqual(1, len(self.statements))

    def test_value_with_the_separator(self):
        self.assertEqual({'a\nb', 'c'}, self._read('a\nb', 'c'))
        self.assertEqual(2, len(self.statements))

    def test_string_that_was_cut_short_opens_no_host(self):
        connection = self.session.connection().connection
        connection.driver_connection.create_aggregate(
            'group_concat', 2, _Cut)
        # Cut within a name, between names, and not at all.
        for length in (7, 9, 10, 19, 4):
            hosts = {f'{number:0{length}}' for number in range(11)}
            self.session.execute(sa.delete(_Row))
            self.assertEqual(hosts, self._read(*hosts), length)
        self.assertEqual(1, len(self.statements))
