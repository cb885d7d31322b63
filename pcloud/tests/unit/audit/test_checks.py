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

from pcloud.audit import all_checks
from pcloud.audit import attribute_checks
from pcloud.audit import findings
from pcloud.audit import home_checks
from pcloud.audit import placement_checks
from pcloud.audit import project_checks
from pcloud.audit import row_checks
from pcloud.audit import value_checks

PAGE = (pathlib.Path(__file__).parents[4] / 'doc' / 'source' / 'cli' /
        'pcloud-manage.rst')


class KindsTest(base.BaseTestCase):

    def test_documented(self):
        sources = ''.join(map(inspect.getsource, (
            all_checks, attribute_checks, home_checks, placement_checks,
            project_checks, row_checks, value_checks)))
        named = re.findall(
            r"(?:Finding|\()\(?\s*'([a-z]+(?:-[a-z]+)+)'", sources)
        found = {findings.NOT_LOOKED_AT, value_checks.KIND, *named,
                 *project_checks.KINDS.values()}
        self.assertIn('host-in-two-pclouds', found)
        self.assertIn('name-without-host', found)
        documented = set(re.findall(
            r'^``([a-z]+(?:-[a-z]+)+)``  ', PAGE.read_text(), re.MULTILINE))
        self.assertEqual(found, documented)
