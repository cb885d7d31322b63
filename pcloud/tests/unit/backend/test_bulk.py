# SPDX-License-Identifier: Apache-2.0

"""Reading many rows as a few strings."""

import collections

import hypothesis
from hypothesis import strategies as st
import sqlalchemy as sa
from sqlalchemy import orm
import testtools

from pcloud.backend import bulk

_BASE = orm.declarative_base()


class _Row(_BASE):
    __tablename__ = 'rows'
    id = sa.Column(sa.Integer, primary_key=True)
    group = sa.Column(sa.Integer)
    host = sa.Column(sa.String(255))


class _Cut:
    """A database that cuts strings short, as MySQL does, and tells nobody."""

    def __init__(self):
        self.values = []

    def step(self, value, separator):
        if value is not None:
            self.values.append(value)
        self.separator = separator

    def finalize(self):
        return self.separator.join(self.values)[:100] or None


class BulkTestCase(testtools.TestCase):

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

    def write(self, *rows):
        """Write rows, each a group and a host, in place of others."""
        self.session.execute(sa.delete(_Row))
        self.session.add_all(
            _Row(group=group, host=host) for group, host in rows)
        self.session.flush()
        self.statements.clear()

    def cut(self):
        """Have the database cut strings short from now on."""
        connection = self.session.connection().connection
        connection.driver_connection.create_aggregate(
            'group_concat', 2, _Cut)


class DistinctTest(BulkTestCase):

    def _read(self, *hosts):
        self.write(*((1, host) for host in hosts))
        return bulk.distinct(self.session, sa.select(_Row.host).where(
            _Row.host != 'left out'))

    def test_all_are_found_with_one_query(self):
        hosts = [f'host-{number:04}.example.org' for number in range(5000)]
        self.assertEqual(frozenset(hosts),
                         self._read(*hosts, *hosts[:10], 'left out'))
        self.assertEqual(1, len(self.statements))

    def test_none(self):
        self.assertEqual(frozenset(), self._read('left out'))
        self.assertEqual(frozenset(), self._read(None))
        self.write((1, None), (1, 'a\nb'))
        self.assertEqual({'a\nb'}, bulk.distinct(
            self.session, sa.select(_Row.host)))

    def test_case_and_other_letters_are_kept(self):
        hosts = {'Host', 'host', 'a,b', '', 'h\u00f6st'}
        self.assertEqual(hosts, self._read(*hosts, None))
        self.assertEqual(1, len(self.statements))

    def test_value_with_the_separator(self):
        self.assertEqual({'a\nb', 'c'}, self._read('a\nb', 'c'))
        self.assertEqual(2, len(self.statements))

    def test_string_that_was_cut_short_opens_no_host(self):
        self.cut()
        # Cut within a name, between names, and not at all.
        for length in (7, 9, 10, 19, 4):
            hosts = {f'{number:0{length}}' for number in range(11)}
            self.assertEqual(hosts, self._read(*hosts), length)
        self.assertEqual(1, len(self.statements))


class SetTest(testtools.TestCase):

    def test_union(self):
        one, other = frozenset('ab'), frozenset('bc')
        self.assertEqual(frozenset('abc'), bulk.union(one, other))
        self.assertEqual(frozenset(), bulk.union())
        self.assertIs(bulk.union(one, other), bulk.union(one, other))

    def test_common(self):
        some, more = frozenset('ab'), frozenset('abc')
        self.assertIs(some, bulk.common(some, more))
        self.assertEqual(some, bulk.common(more, some))
        self.assertEqual(frozenset(), bulk.common(some, frozenset()))

    def test_without(self):
        some, more = frozenset('ab'), frozenset('bc')
        self.assertEqual(frozenset('a'), bulk.without(some, more))
        self.assertEqual(frozenset(), bulk.without(some, some))
        self.assertIs(bulk.without(some, more), bulk.without(some, more))


_HOSTS = st.one_of(st.none(), st.text('ab\u00f6\n ', max_size=4),
                   st.just('x' * 30))


class RowsTest(BulkTestCase):
    """Groups and tables hold what the rows hold, however they are read."""

    def setUp(self):
        super().setUp()
        self.statement = sa.select(_Row.group, _Row.host)

    @hypothesis.given(st.lists(st.tuples(
        st.one_of(st.none(), st.integers(0, 3)), _HOSTS)), st.booleans())
    def test_all_rows_are_there(self, rows, is_cut):
        if is_cut:
            self.cut()
        self.write(*rows)
        gathered = collections.defaultdict(list)
        for group, host in rows:
            gathered[group].extend([] if host is None else [host])
        self.assertEqual(gathered, {
            group: list(hosts) for group, hosts
            in bulk.groups(self.session, self.statement)})
        self.assertEqual(
            [(str(group), host) for group, host in rows
             if None not in (group, host)],
            bulk.table(self.session, self.statement))

    @hypothesis.given(st.lists(st.lists(st.tuples(
        st.integers(0, 2), _HOSTS), max_size=2), max_size=4), st.booleans())
    def test_tables_are_those_of_the_rows_again_and_again(
            self, answers, is_cut):
        if is_cut:
            self.cut()
        memo = bulk.TableMemo()
        for rows in answers:
            self.write(*rows)
            expected = [(str(group), host) for group, host in rows
                        if host is not None]
            for _ in range(2):
                self.assertEqual(
                    expected, bulk.table(self.session, self.statement, memo))

    def test_the_same_table_is_the_same_object(self):
        self.write((1, 'a'), (2, 'b'))
        memo = bulk.TableMemo()
        first, second = (bulk.table(self.session, self.statement, memo)
                         for _ in range(2))
        self.assertIs(first, second)
        self.write((1, 'a'), (2, 'c'))
        self.assertEqual([('1', 'a'), ('2', 'c')], bulk.table(
            self.session, self.statement, memo))

    @hypothesis.given(st.lists(st.lists(st.tuples(
        st.one_of(st.none(), st.integers(0, 3)), _HOSTS)), max_size=4),
        st.booleans())
    def test_sets_are_those_of_the_rows_again_and_again(self, answers, is_cut):
        if is_cut:
            self.cut()
        memo = bulk.Memo()
        for rows in answers:
            self.write(*rows)
            counted = collections.defaultdict(collections.Counter)
            for group, host in rows:
                counted[group].update([] if host is None else [host])
            self.assertEqual(
                {group: (set(hosts), {host for host in hosts
                                      if hosts[host] > 1})
                 for group, hosts in counted.items()},
                {group: (hosts, repeated) for group, hosts, repeated
                 in bulk.sets(self.session, self.statement, memo)})

    def test_sets_are_made_where_the_names_have_changed(self):
        memo = bulk.Memo()
        self.write((1, 'a'), (1, 'b'), (2, 'c'))
        before = {group: hosts for group, hosts, _
                  in bulk.sets(self.session, self.statement, memo)}
        self.write((1, 'a'), (1, 'b'), (2, 'd'))
        after = {group: hosts for group, hosts, _
                 in bulk.sets(self.session, self.statement, memo)}
        self.assertIs(before[1], after[1])
        self.assertEqual({'d'}, after[2])
        self.assertEqual(1, len(self.statements))

    def test_one_query(self):
        self.write((1, 'a'), (2, 'b'), (1, 'c'), (3, None))
        self.assertEqual(
            [(1, ['a', 'c']), (2, ['b']), (3, [])],
            [(group, list(hosts)) for group, hosts in
             bulk.groups(self.session, self.statement)])
        self.assertEqual(1, len(self.statements))

    def test_many_values_are_not_named(self):
        for count, expected in ((bulk.MOST_NAMED, ['1']),
                                (bulk.MOST_NAMED + 1, ['1', 'x'])):
            self.write((1, '1'), (1, 'x'))
            self.assertEqual(expected, self.session.scalars(
                sa.select(_Row.host).where(bulk.among(
                    _Row.host, [str(each) for each in range(count)]))).all())
