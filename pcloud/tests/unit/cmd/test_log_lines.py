# SPDX-License-Identifier: Apache-2.0

"""What the operators' commands log to standard error."""

import logging
import pathlib
import subprocess
import sys

import ddt
import fixtures
import testtools

# As a command does, which then logs as a library and as Nova do.
PROGRAM = """
import logging
import sys
from oslo_config import cfg
from oslo_log import log
from pcloud.cmd import log_lines
conf = cfg.ConfigOpts()
log.register_options(conf)
log.set_defaults(default_log_levels=['oslo.cache=INFO', 'amqp=WARN'])
conf(sys.argv[1:], project='nova')
if not conf.log_file:
    conf.set_default('use_stderr', True)
log.setup(conf, 'nova')
log_lines.show_warnings_alone(conf)
for name in ('nova.thread_pool_factory', 'oslo.cache', 'pcloud'):
    logging.getLogger(name).debug('a detail')
    logging.getLogger(name).info('by the way')
    logging.getLogger(name).warning('beware')
"""
# Prints the level of standard error while a command runs.
COMMAND = """
import logging
import sys
from unittest import mock
name = sys.argv[1]
sys.argv[1:1] = ['--config-file', '/dev/null']
from pcloud.cmd import manage
with mock.patch.object(manage, '_name_silent_cells'), mock.patch(
        f'pcloud.cmd.{name}.run',
        lambda _: print(logging.getLogger().handlers[0].level)):
    manage.main()
"""
# Prints a word when a command runs although no database lets it in.
LOCKED_OUT = """
import sys
from unittest import mock
sys.argv[1:1] = ['--config-file', '/dev/null']
from pcloud.cmd import manage
from pcloud.backend.cells import asking
from sqlalchemy import exc
error = exc.OperationalError('', {}, Exception(1040, 'Too many connections'))
with mock.patch.object(asking, 'silent', side_effect=error), mock.patch(
        'pcloud.cmd.work.run', lambda _: print('runs') or 0):
    sys.exit(manage.main())
"""


@ddt.ddt
class LogLinesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def _told(self, text='', *arguments):
        """Return what is written to standard error, sorted."""
        config = self.folder / 'nova.conf'
        config.write_text(f'[DEFAULT]\n{text}\n')
        done = subprocess.run(
            [sys.executable, '-c', PROGRAM, '--config-file', config,
             *arguments], text=True, capture_output=True, check=True)
        self.assertEqual('', done.stdout)
        return [done.stderr.count(word)
                for word in ('a detail', 'by the way', 'beware')]

    @ddt.data('', 'use_stderr = True')
    def test_warnings_alone(self, text):
        self.assertEqual([0, 0, 3], self._told(text))

    def test_debug(self):
        self.assertEqual([2, 3, 3], self._told('debug = True'))
        self.assertEqual([2, 3, 3], self._told('', '--debug'))

    def test_levels_of_the_operator(self):
        self.assertEqual([1, 3, 3],
                         self._told('default_log_levels = pcloud=DEBUG'))

    def test_a_log_file_gets_all(self):
        """And standard error too, where nova.conf says so."""
        path = self.folder / 'manage.log'
        self.assertEqual([0, 0, 0], self._told(f'log_file = {path}'))
        self.assertEqual(3, path.read_text().count('by the way'))
        self.assertEqual([0, 3, 3], self._told(
            f'log_file = {path}\nuse_stderr = True'))

    def test_handlers_of_the_operator(self):
        path = self.folder / 'logging.conf'
        path.write_text("""
            [loggers]
            keys = root
            [handlers]
            keys = all
            [formatters]
            keys =
            [logger_root]
            level = INFO
            handlers = all
            [handler_all]
            class = StreamHandler
            args = ()
            """.replace(' ' * 12, ''))
        self.assertEqual(
            [0, 3, 3], self._told(f'log_config_append = {path}'))


@ddt.ddt
class CommandsTest(testtools.TestCase):
    """Which commands write warnings alone."""

    @ddt.data((logging.WARNING, 'work', '--once'), (logging.NOTSET, 'work'),
              (logging.NOTSET, 'metrics', '--listen', ':0'))
    def test_commands(self, case):
        level, *words = case
        done = subprocess.run(
            [sys.executable, '-c', COMMAND, *words], text=True,
            stdout=subprocess.PIPE, check=True)
        self.assertEqual(level, int(done.stdout))

    @ddt.data((0, 'runs\n', 'work'), (2, '', 'work', '--once'))
    def test_no_database_lets_a_command_in(self, case):
        """A service goes on, and waits."""
        status, told, *words = case
        done = subprocess.run(
            [sys.executable, '-c', LOCKED_OUT, *words], text=True,
            capture_output=True)
        self.assertEqual((status, told), (done.returncode, done.stdout))
        self.assertIn('Too many connections', done.stderr)
