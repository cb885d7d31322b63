# SPDX-License-Identifier: Apache-2.0

"""The administrator of the sandbox of a story, who asks the APIs."""

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import rest


class Administrator:
    """The administrator of the sandbox that the environment names.

    :raises SandboxError: an API refuses, or does not answer
    """

    def __init__(self) -> None:
        chosen = settings.read(
            layout.Layout(layout.default_directory())).settings
        self._client = rest.Client(chosen, 'admin')
        self._compute = chosen.url('nova') + '/v2.1'
        self._identity = chosen.auth_url

    def ask(self, path: str) -> dict:
        """Return Nova's answer to a GET request."""
        return self._client.get(self._compute + path)

    def projects(self) -> dict[str, str]:
        """Return project id -> name, as Keystone has both."""
        answer = self._client.get(self._identity + '/projects')
        return {project['id']: project['name']
                for project in answer['projects']}
