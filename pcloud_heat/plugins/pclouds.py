# SPDX-License-Identifier: Apache-2.0

"""What heat-engine finds in the folder of plugins.

Heat imports a plugin under a name of its own, so the classes are elsewhere.
"""

from collections.abc import Mapping

from pcloud_heat import default
from pcloud_heat import host
from pcloud_heat import pcloud
from pcloud_heat import tenant


def resource_mapping() -> Mapping[str, type]:
    """Return the types of resources: ``name in templates -> class``."""
    return {
        'OS::Pcloud::Default': default.Default,
        'OS::Pcloud::Host': host.Host,
        'OS::Pcloud::Pcloud': pcloud.Pcloud,
        'OS::Pcloud::Tenant': tenant.Tenant,
    }
