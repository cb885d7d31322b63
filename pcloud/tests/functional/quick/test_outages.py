# SPDX-License-Identifier: Apache-2.0
"""What works, and what is refused, while a part of the cloud is away.

The tables of the operators' guide are read, and each cell is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
import json
from unittest import mock

from pcloud.api.nova_calls import servers
from pcloud.tests.functional.lost_calls import test_drops
from pcloud.tests.functional.lost_calls import test_outages


class LaunchesTest(test_outages.OutagesTestCase):
    """Servers that are started."""

    def test_launches(self):
        self._check(list(test_outages.LAUNCHES), self._launch)

    def _launch(self, title, part, wanted) -> Iterator[str]:
        body: dict[str, Mapping] = {'server': {
            'name': 'a', 'imageRef': self.glance.image1['id'],
            'flavorRef': '1'}}
        if test_outages.LAUNCHES[title]:
            body['os:scheduler_hints'] = {'pcloud': self.ids['{mine}']}
        call = test_drops.Call('alice', 'POST', '/servers', body)
        with self._away(part):
            answer = self._send(call)
            status, text = answer.status, answer.text
            server = None
            if answer.is_success:
                server = self._built(json.loads(text)['server'])
                status = server['status']
                text = server.get('fault', {}).get('message', '')
            if wanted == test_outages.AS_NOVA:
                with mock.patch.object(servers, 'prepare'):
                    other = self._send(call)
                if (status, text) != (other.status, other.text):
                    yield f'{status} {text}, and Nova: {other}'
        if wanted in self.refusals:
            yield from self.refusals[wanted].differs(status, text)
        elif wanted == test_outages.WORKS and status != 'ACTIVE':
            yield f'{status} {text}'
        if server is not None:
            self._delete_server(server)

    def _built(self, server):
        def found():
            shown = self.admin.get_server(server['id'])
            self.assertNotEqual('BUILD', shown['status'])
            # Nova writes the fault a moment after the status.
            self.assertTrue(shown['status'] != 'ERROR' or 'fault' in shown)
            return shown

        return self.wait_until(found)
