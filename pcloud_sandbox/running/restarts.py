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
