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

"""Clients, faults and a checker, at work on one cloud for a long time.

API processes are killed, and connections of API processes to MariaDB and
Placement are broken, while clients make all changing calls. The checker reads
the databases by SQL alone, and compares rows with answers.
"""

# Loads the threading of Nova, so the import comes first.
from pcloud.tests import concurrency  # noqa: F401
