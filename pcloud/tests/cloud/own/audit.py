# SPDX-License-Identifier: Apache-2.0

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
