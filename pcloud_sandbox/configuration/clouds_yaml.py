# SPDX-License-Identifier: Apache-2.0

"""The clouds.yaml of a sandbox, for whatever reads ``OS_CLOUD``."""

import json
import os

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings


def cloud_name(user: str) -> str:
    """Return the name of the cloud that a user is logged in to."""
    return f'sandbox-{user}'


def clouds(chosen: settings.Settings) -> dict[str, dict]:
    """Return name -> cloud of clouds.yaml, one for each user.

    The project of a user has the user's name.
    """
    return {
        cloud_name(user): {
            'auth': {
                'auth_url': chosen.auth_url,
                'username': user,
                'password': chosen.password,
                'project_name': user,
                'user_domain_id': settings.DOMAIN,
                'project_domain_id': settings.DOMAIN,
            },
            'region_name': settings.REGION,
        } for user in settings.USERS}


def write(where: layout.Layout, chosen: settings.Settings) -> None:
    """Write the file, which the owner alone can read: it has passwords."""
    descriptor = os.open(
        where.clouds, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, 'w') as stream:
        # JSON is YAML, and needs no further library.
        json.dump({'clouds': clouds(chosen)}, stream, indent=2)
