# SPDX-License-Identifier: Apache-2.0
"""Which errors of databases tell that a database is away."""

from oslotest import base
import pymysql
from sqlalchemy import exc as sa_exc

from pcloud.backend import outages


class OutageTest(base.BaseTestCase):

    def _is_outage(self, *arguments):
        return outages.is_outage(sa_exc.OperationalError(
            'SELECT', {}, pymysql.err.OperationalError(*arguments)))

    def test_texts_that_cannot_be_compared(self):
        self.assertFalse(self._is_outage(1267, 'Illegal mix of collations'))

    def test_everything_else(self):
        for arguments in ((2013, 'Lost connection'), (1205, 'Lock wait'),
                          ('unable to open database file',), ()):
            self.assertTrue(self._is_outage(*arguments))
        self.assertTrue(outages.is_outage(sa_exc.TimeoutError()))
        self.assertTrue(outages.is_outage(NotImplementedError()))
