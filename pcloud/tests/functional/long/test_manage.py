# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage`` as an operator calls it, while a cell is away."""

import os
import pathlib
import socket
import subprocess
import sys
import textwrap
import threading

import fixtures
from nova import test


class Refusal(fixtures.Fixture):
    """A database that hangs up on everybody.

    :ivar port: where it listens, on this machine
    :ivar calls: how many have called
    """

    def _setUp(self):
        self.calls = 0
        self._listener = socket.create_server(('127.0.0.1', 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._hang_up)
        self._thread.start()
        self.addCleanup(self._stop)

    def _hang_up(self):
        while True:
            caller, _ = self._listener.accept()
            with caller:
                if self._stopping:
                    return
                self.calls += 1

    _stopping = False

    def _stop(self):
        self._stopping = True
        socket.create_connection(('127.0.0.1', self.port)).close()
        self._thread.join()
        self._listener.close()


class ManageTest(test.NoDBTestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.config = self.folder / 'nova.conf'
        self.config.write_text(textwrap.dedent(f'''
            [DEFAULT]
            state_path = {self.folder}
            transport_url = fake://
            [api_database]
            connection = sqlite:///{self.folder}/api.sqlite
            [database]
            connection = sqlite:///{self.folder}/cell0.sqlite
            '''))
        self.away = self.useFixture(Refusal())
        for arguments in (
                ['api_db', 'sync'],
                ['cell_v2', 'map_cell0', '--database_connection',
                 f'sqlite:///{self.folder}/cell0.sqlite'],
                ['cell_v2', 'create_cell', '--name', 'attic',
                 '--transport-url', 'fake://', '--database_connection',
                 f'mysql+pymysql://nova@127.0.0.1:{self.away.port}/nova']):
            self._run('nova.cmd.manage', *arguments).check_returncode()

    def _run(self, module, *arguments):
        return subprocess.run(
            [sys.executable, '-c', f'import sys; from {module} import main; '
             'sys.exit(main())', '--config-file', str(self.config),
             *arguments], capture_output=True, text=True,
            env={**os.environ, 'OS_NOVA_DISABLE_EVENTLET_PATCHING': '1'})

    def test_cell_that_is_away_is_named_at_once(self):
        """It is tried once; ten times would be too long to wait for."""
        told = self._run('pcloud.cmd.manage', 'explain', '--flavor', 'none')
        self.assertIn('pcloud-manage: cell attic (', told.stderr)
        self.assertIn('does not answer', told.stderr)
        self.assertIn("Flavor 'none' could not be found", told.stderr)
        self.assertEqual((2, 1), (told.returncode, self.away.calls))
        self.assertNotIn('Traceback', told.stderr)

        # Each test makes databases anew, for minutes.
        told = self._run('pcloud.cmd.manage', 'uninstall', '--check')
        # No Placement runs here: what is left there is not known.
        self.assertEqual(2, told.returncode)
        self.assertIn('not-looked-at: ', told.stdout)
        self.assertIn('Placement: ', told.stdout)
        self.assertIn('pcloud-manage: cell attic (', told.stderr)
        asked = self._run('pcloud.cmd.manage', 'uninstall')
        self.assertEqual(2, asked.returncode)
        self.assertIn('required: --check', asked.stderr)
