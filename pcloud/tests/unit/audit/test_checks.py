# SPDX-License-Identifier: Apache-2.0

"""The operators' reference tells all that audit finds."""

import inspect
import pathlib
import re

from oslotest import base

from pcloud.audit import all_checks
from pcloud.audit import attribute_checks
from pcloud.audit import findings
from pcloud.audit import gap_checks
from pcloud.audit import home_checks
from pcloud.audit import placement_checks
from pcloud.audit import project_checks
from pcloud.audit import row_checks
from pcloud.audit import span_checks
from pcloud.audit import value_checks
from pcloud.audit import waiting_checks

PAGE = (pathlib.Path(__file__).parents[4] / 'doc' / 'source' / 'cli' /
        'pcloud-manage.rst')


class KindsTest(base.BaseTestCase):

    def test_documented(self):
        sources = ''.join(map(inspect.getsource, (
            all_checks, attribute_checks, gap_checks, home_checks,
            placement_checks, project_checks, row_checks, span_checks,
            value_checks, waiting_checks)))
        named = re.findall(
            r"(?:Finding|\()\(?\s*'([a-z]+(?:-[a-z]+)+)'", sources)
        found = {findings.NOT_LOOKED_AT, value_checks.KIND, *named,
                 *project_checks.KINDS.values(),
                 *row_checks.OUTLIVED.values()}
        self.assertIn('host-in-two-pclouds', found)
        self.assertIn('name-without-host', found)
        documented = set(re.findall(
            r'^``([a-z]+(?:-[a-z]+)+)``  ', PAGE.read_text(), re.MULTILINE))
        self.assertEqual(found, documented)
