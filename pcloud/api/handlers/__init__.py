# SPDX-License-Identifier: Apache-2.0

"""The handlers of the core's calls: a module a resource, a function a route.

A module of a small resource also has the schemas of the resource's bodies and
queries, and the view of the resource.
"""

from pcloud.api.handlers import about  # noqa: F401
from pcloud.api.handlers import attributes  # noqa: F401
from pcloud.api.handlers import hidden_servers  # noqa: F401
from pcloud.api.handlers import host_flavors  # noqa: F401
from pcloud.api.handlers import hosts  # noqa: F401
from pcloud.api.handlers import pclouds  # noqa: F401
from pcloud.api.handlers import quotas  # noqa: F401
from pcloud.api.handlers import room  # noqa: F401
from pcloud.api.handlers import scoped_policies  # noqa: F401
from pcloud.api.handlers import servers  # noqa: F401
from pcloud.api.handlers import tenants  # noqa: F401
from pcloud.api.handlers import waiting  # noqa: F401
