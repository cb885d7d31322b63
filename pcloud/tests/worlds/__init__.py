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
"""Small worlds, explored in every order of the actors' steps.

The worlds run under eventlet: a process with a single thread can be copied by
fork, with all actors wherever the actors stand.
"""

import os

# Decides how Nova runs threads, so the line precedes all imports of Nova.
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = '0'

from pcloud.tests import functional  # noqa: E402,F401
