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
"""Whether a project may use more units."""

from oslotest import base

from pcloud.objects import quotas


class QuotaTest(base.BaseTestCase):

    def test_limit(self):
        self.assertTrue(quotas.Quota(5, 2).allows(3))
        self.assertFalse(quotas.Quota(5, 2).allows(4))
        self.assertFalse(quotas.Quota(0, 0).allows(1))
        self.assertTrue(quotas.Quota(0, 0).allows(0))

    def test_unlimited(self):
        self.assertTrue(quotas.Quota(quotas.UNLIMITED, 7).allows(10 ** 6))
