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

"""The operators' reference tells all that audit finds."""

import inspect
import pathlib
import re

from oslotest import base

from pcloud.aggregates import audit
from pcloud.aggregates import audit_attributes
from pcloud.aggregates import audit_placement
from pcloud.aggregates import audit_rows
from pcloud.aggregates import audit_values
from pcloud.aggregates import findings

PAGE = (pathlib.Path(__file__).parents[4] / 'doc' / 'source' / 'cli' /
        'pcloud-manage.rst')


class KindsTest(base.BaseTestCase):

    def test_documented(self):
        sources = ''.join(map(inspect.getsource, (
            audit, audit_attributes, audit_placement, audit_rows,
            audit_values)))
        found = {findings.NOT_LOOKED_AT, audit_values.KIND, *re.findall(
            r"(?:Finding|\()\(?\s*'([a-z]+(?:-[a-z]+)+)'", sources)}
        self.assertIn('host-in-two-pclouds', found)
        self.assertIn('name-without-host', found)
        documented = set(re.findall(
            r'^``([a-z]+(?:-[a-z]+)+)`` ', PAGE.read_text(), re.MULTILINE))
        self.assertEqual(found, documented)
