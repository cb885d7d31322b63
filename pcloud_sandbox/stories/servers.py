# SPDX-License-Identifier: Apache-2.0

"""Servers in stories: commands that boot servers, and a server's state."""

from pcloud_sandbox import narrator

CREATE = ('openstack server create --flavor m1.small --image cirros '
          '--wait -c name -c status')


def status_and_host(teller: narrator.Narrator, name: str) -> tuple[str, str]:
    """Return a server's status and real host, as an operator sees both."""
    listed = teller.run(
        'admin', f'openstack server list --all-projects --name {name} '
                 '--long -c Name -c Status -c Host')
    cells = [cell.strip() for cell in listed.splitlines()[3].split('|')]
    return cells[2], cells[3]
