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

"""JSON schemas of request bodies and query strings, a module a resource."""

from pcloud.api.schemas import attributes  # noqa: F401
from pcloud.api.schemas import explain  # noqa: F401
from pcloud.api.schemas import host_flavors  # noqa: F401
from pcloud.api.schemas import hosts  # noqa: F401
from pcloud.api.schemas import pclouds  # noqa: F401
from pcloud.api.schemas import quotas  # noqa: F401
from pcloud.api.schemas import rebalance  # noqa: F401
from pcloud.api.schemas import rehearsal  # noqa: F401
from pcloud.api.schemas import room  # noqa: F401
from pcloud.api.schemas import scoped_policies  # noqa: F401
from pcloud.api.schemas import servers  # noqa: F401
from pcloud.api.schemas import simulate  # noqa: F401
from pcloud.api.schemas import tenants  # noqa: F401
