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
