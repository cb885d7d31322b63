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
