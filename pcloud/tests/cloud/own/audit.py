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

"""The audit of a cloud whose configuration is at hand."""

import json
import subprocess
import sys

from pcloud_sandbox.configuration import layout


def run(where: layout.Layout, *options: str) -> tuple[int, list[dict]]:
    """Run ``pcloud-manage audit``; return (status, findings)."""
    done = subprocess.run(
        [sys.executable, '-m', 'pcloud.cmd.manage', '--config-file',
         str(where.etc / 'nova.conf'), 'audit', '--format', 'json',
         *options], text=True, check=False, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    return done.returncode, json.loads(done.stdout)['findings']
