# SPDX-License-Identifier: Apache-2.0


"""Threads that read and then write the same SQLite database."""

import os
import pathlib
import tempfile
import threading
import unittest

from oslo_db.sqlalchemy import engines
import sqlalchemy

from pcloud_sandbox.configuration import sqlite

THREADS = 4
ROUNDS = 25


class BeginLateTest(unittest.TestCase):

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, 'a.sqlite')
        sqlite.create(pathlib.Path(path))
        self.engine = engines.create_engine(f'sqlite:///{path}?timeout=60')
        self.addCleanup(self.engine.dispose)
        sqlalchemy.event.listen(self.engine, 'before_cursor_execute',
                                sqlite.begin_late, retval=True)
        self.execute('CREATE TABLE t (n INTEGER)')
        self.execute('INSERT INTO t VALUES (0)')

    def execute(self, *statements):
        with self.engine.begin() as connection:
            for statement in statements:
                result = connection.execute(sqlalchemy.text(statement))
                # A read that has not come to its end keeps its snapshot.
                value = result.scalar() if result.returns_rows else None
            return value

    def test_readers_that_become_writers_wait_for_each_other(self):
        failed = []

        def work():
            try:
                for _ in range(ROUNDS):
                    self.execute('SELECT n FROM t',
                                 'UPDATE t SET n = n + 1')
            except sqlalchemy.exc.DBAPIError as error:
                failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], failed)
        self.assertEqual(THREADS * ROUNDS, self.execute('SELECT n FROM t'))

    def test_rollback(self):
        with self.engine.connect() as connection:
            connection.execute(sqlalchemy.text('UPDATE t SET n = 7'))
            connection.rollback()
        self.assertEqual(0, self.execute('SELECT n FROM t'))

    def test_savepoint(self):
        with self.engine.begin() as connection:
            with connection.begin_nested() as nested:
                connection.execute(sqlalchemy.text('UPDATE t SET n = 7'))
                nested.rollback()
            connection.execute(sqlalchemy.text('UPDATE t SET n = n + 1'))
        self.assertEqual(1, self.execute('SELECT n FROM t'))
