# SPDX-License-Identifier: Apache-2.0

"""Both command lines: the guides, word for word, on this cloud too."""

from pcloud.tests.cloud import needs
from pcloud.tests.cloud.own import base
from pcloud.tests.commands import test_guides


@needs.own_cloud('types the names of hosts and users of a sandbox')
class GuidesTest(base.OwnCloudTest, test_guides.GuidesTest):

    hosts = 6
