# SPDX-License-Identifier: Apache-2.0
"""Nothing waits for a broker that is away, asked through the real driver."""

import socket

import fixtures
from kombu import exceptions as kombu_exc
from nova import conf as nova_conf
from nova import context as nova_context
from nova import test
import oslo_messaging as messaging

from pcloud.backend.calls import announce
from pcloud.backend.calls import compute_calls


class BrokerTest(test.NoDBTestCase):
    """No broker listens at the address of the transport."""

    def setUp(self):
        super().setUp()
        with socket.socket() as closed:
            closed.bind(('127.0.0.1', 0))
            port = closed.getsockname()[1]
        transport = messaging.get_rpc_transport(
            nova_conf.CONF, f'rabbit://user:secret@127.0.0.1:{port}/')
        self.useFixture(fixtures.MonkeyPatch(
            'nova.rpc.get_client', lambda target, *args, **more:
            messaging.get_rpc_client(transport, target)))
        self.context = nova_context.RequestContext()

    def test_schedulers(self):
        with self.assertLogs('pcloud') as logs:
            announce._cast(self.context, 'update_aggregates', aggregates=[])
        self.assertIn('could not be told', logs.output[0])

    def test_compute_service(self):
        calls = compute_calls.host_api().rpcapi
        self.assertRaises(
            kombu_exc.OperationalError, calls.set_host_enabled, self.context,
            'node-1', True)
