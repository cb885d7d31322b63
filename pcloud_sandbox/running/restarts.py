# SPDX-License-Identifier: Apache-2.0

"""Requests to a sandbox's supervisor to start services again.

A request is an empty file with the service's name.
"""

from pcloud_sandbox.configuration import layout


def put(where: layout.Layout, service: str) -> None:
    """Request the start of a service."""
    (where.requests / service).touch()


def take(where: layout.Layout) -> list[str]:
    """Return the requested services, and delete the requests."""
    paths = sorted(where.requests.iterdir())
    for path in paths:
        path.unlink()
    return [path.name for path in paths]
