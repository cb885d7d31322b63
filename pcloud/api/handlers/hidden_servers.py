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

"""``/os-pcloud-hidden-servers``."""

from pcloud.api import call as api_call
from pcloud.backend import servers


def index(call: api_call.Call) -> dict:
    """Return the caller's servers in parts of the cloud that do not answer.

    Nova lists such servers only as far as the first page of a list has place.

    Rule: reference-colocation-hidden
    """
    return {'hidden_servers': servers.hidden(call.context, call.project_id)}
