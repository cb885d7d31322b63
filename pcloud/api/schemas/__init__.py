# SPDX-License-Identifier: Apache-2.0

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
