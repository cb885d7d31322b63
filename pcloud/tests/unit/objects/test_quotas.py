# SPDX-License-Identifier: Apache-2.0
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
