# SPDX-License-Identifier: Apache-2.0

"""How the place of a server is shown."""

from pcloud.objects import placed_servers


def show(server: placed_servers.PlacedServer) -> dict:
    """Return what the project of a server sees of the server's place."""
    return {'server': server.uuid,
            'pcloud': {'id': server.pcloud_id, 'name': server.pcloud_name},
            'host': server.host}
