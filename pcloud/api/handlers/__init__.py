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

"""The handlers of all calls: a module a resource, a function a route."""

from pcloud.api.handlers import about  # noqa: F401
from pcloud.api.handlers import attributes  # noqa: F401
from pcloud.api.handlers import audit  # noqa: F401
from pcloud.api.handlers import explain  # noqa: F401
from pcloud.api.handlers import hidden_servers  # noqa: F401
from pcloud.api.handlers import host_flavors  # noqa: F401
from pcloud.api.handlers import hosts  # noqa: F401
from pcloud.api.handlers import pclouds  # noqa: F401
from pcloud.api.handlers import quotas  # noqa: F401
from pcloud.api.handlers import rebalance  # noqa: F401
from pcloud.api.handlers import rehearsal  # noqa: F401
from pcloud.api.handlers import room  # noqa: F401
from pcloud.api.handlers import scoped_policies  # noqa: F401
from pcloud.api.handlers import servers  # noqa: F401
from pcloud.api.handlers import simulate  # noqa: F401
from pcloud.api.handlers import tenants  # noqa: F401
