# SPDX-License-Identifier: Apache-2.0

"""JSON schemas of request bodies and query strings of the large resources.

The module of a small resource's handlers has the resource's schemas.
"""

from pcloud.api.schemas import host_flavors  # noqa: F401
from pcloud.api.schemas import hosts  # noqa: F401
from pcloud.api.schemas import pclouds  # noqa: F401
from pcloud.api.schemas import scoped_policies  # noqa: F401
