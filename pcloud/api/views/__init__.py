# SPDX-License-Identifier: Apache-2.0

"""The large resources as the API shows them, by the caller.

Each view has the schema of what it shows beside it. The module of a small
resource's handlers shows the resource itself.
"""

from pcloud.api.views import host_flavors  # noqa: F401
from pcloud.api.views import hosts  # noqa: F401
from pcloud.api.views import pclouds  # noqa: F401
from pcloud.api.views import scoped_policies  # noqa: F401
from pcloud.api.views import waiting  # noqa: F401
