# SPDX-License-Identifier: Apache-2.0

"""What a unit is told of its parent, when the unit's image asks for it.

Rule: reference-colocation-consumes
"""

from pcloud.client import servers
from pcloud.rules import forms

# Metadata of a unit: the id of the unit's parent, its name and its addresses
# with commas between.
ID = 'pcloud_parent'
NAME = 'pcloud_parent_name'
ADDRESSES = 'pcloud_parent_addresses'


def told(parent: servers.Server) -> dict[str, str]:
    """Return the metadata that tell a unit of its parent.

    Addresses that do not fit are left out, the last ones first.
    """
    addresses = list(parent.addresses)
    while len(','.join(addresses)) > forms.LIMIT:
        addresses.pop()
    return {ID: parent.id, NAME: parent.name, ADDRESSES: ','.join(addresses)}
