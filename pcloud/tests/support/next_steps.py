# SPDX-License-Identifier: Apache-2.0

r"""The next steps of devstack/README.rst, typed word for word in a devstack.

Needs no package of Python. In devstack's folder, as the user who has stacked
with devstack/local.conf.sample::

    PYTHONPATH=<this checkout> python3 -m unittest -v \
        pcloud.tests.support.next_steps
"""

import json
import os
import pathlib
import re
import unittest

from pcloud.tests.commands import guide

_README = pathlib.Path(__file__).parents[3] / 'devstack/README.rst'
_ADMIN = 'openstack --os-cloud devstack-admin'


def blocks(text: str) -> list[list[str]]:
    """Return the commands of each block of the section "Next steps".

    :param text: a README in reStructuredText
    """
    section = re.search(r'(?ms)^Next steps\n=+\n(.*?)(?=^\S+\n=+\n|\Z)', text)
    if not section:
        return []
    return [[line.strip() for line in block.splitlines()] for block in
            re.findall(r'::\n\n((?:    .*\n)+)', section.group(1))]


class NextStepsTest(unittest.TestCase):
    """A pool, a Pcloud, a server, and the way back."""

    def setUp(self) -> None:
        self.pool, self.pcloud, self.back = blocks(_README.read_text())
        self.shell = guide.Shell(dict(os.environ))
        self.addCleanup(self.shell.close)
        self.host = f'{self._run("hostname")}1'

    def test_word_for_word(self) -> None:
        self._type(self.pool + self.pcloud)
        self.assertEqual(
            [('ACTIVE', self.host)],
            [(server['Status'], server['Host'])
             for server in self._servers('inside')])
        self._refuses_without_the_hint()
        self._type(self.back)
        service, = self._ask('compute service list --service nova-compute '
                             f'--host {self.host}')
        self.assertEqual('enabled', service['Status'])
        self.assertEqual([], self._ask('pcloud list --all-projects'))
        self.assertEqual([], self._servers('.*'))

    def _refuses_without_the_hint(self) -> None:
        """Not even an administrator who names the host gets onto the host."""
        create = self.pcloud[-1]
        outside = create.replace(' --hint pcloud=$pcloud', '').replace(
            'openstack', _ADMIN).replace(
            ' inside', f' --host {self.host} outside')
        self.assertEqual(len(create.split()) + 3, len(outside.split()))
        self.shell.type(outside)
        for server in self._servers('outside'):
            self._run(f'{_ADMIN} server delete --wait {server["ID"]}')
            self.assertEqual('ERROR', server['Status'])

    def _type(self, commands: list[str]) -> None:
        for command in commands:
            self._run(command)

    def _run(self, command: str) -> str:
        """Return what a command prints, which has to succeed."""
        *printed, status = self.shell.type(
            f'{command}\nstatus=$?; echo; echo $status').splitlines()
        self.assertEqual('0', status, '\n'.join([command, *printed]))
        return '\n'.join(printed).strip()

    def _ask(self, command: str) -> list[dict[str, str]]:
        """Return the rows that ``openstack`` lists to the administrator."""
        rows: list[dict[str, str]] = json.loads(
            self._run(f'{_ADMIN} {command} -f json 2>/dev/null'))
        return rows

    def _servers(self, name: str) -> list[dict[str, str]]:
        return self._ask(
            f"server list --all-projects --long --name '^{name}$'")


if __name__ == '__main__':
    unittest.main()
