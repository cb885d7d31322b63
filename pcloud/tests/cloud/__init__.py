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

"""Tests of a whole cloud from outside, as its users reach the cloud.

``OS_CLOUD`` names the cloud, `options` what else may be chosen. Without
``OS_CLOUD`` the tests start a cloud of separate processes, for which they need
a MariaDB and a RabbitMQ, and make databases and virtual hosts there.
``PCLOUD_TEST_DATABASE`` and ``PCLOUD_TEST_MESSAGING`` are the URLs; the
defaults are the usual ports of this machine.
"""
