# SPDX-License-Identifier: Apache-2.0

"""A Keystone in which all projects and users are known.

nova-scheduler asks Keystone, before a Pcloud grows, which roles the user has
who has set the default Pcloud.
"""

import functools
from http import server
import json
import threading

_ROLES = ('reader', 'member')


class _Handler(server.BaseHTTPRequestHandler):

    def do_GET(self) -> None:  # noqa: N802
        """Answer a question about a user, a project, a domain or roles."""
        kind, _, its = self.path.split('?')[0].strip('/').partition('/')
        body = json.dumps(_roles() if kind == 'role_assignments' else
                          _one(kind, its) if its else {kind: []}).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the output of a run short."""


def _one(kind: str, its: str) -> dict:
    return {kind.removesuffix('s'): {
        'id': its, 'name': its, 'enabled': True, 'domain_id': 'default'}}


def _roles() -> dict:
    return {'role_assignments': [{'role': {'id': each, 'name': each}}
                                 for each in _ROLES]}


@functools.cache
def options() -> str:
    """Start the server at the first call; return lines for nova.conf."""
    made = server.ThreadingHTTPServer(('127.0.0.1', 0), _Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    url = f'http://127.0.0.1:{made.server_port}'
    return f"""
[service_user]
auth_type = none
[keystone]
endpoint_override = {url}
"""
