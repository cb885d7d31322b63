# SPDX-License-Identifier: Apache-2.0

"""Run a phase of the devstack plugin without devstack.

The plugin configures the sandbox's Nova as the plugin configures Nova in
devstack. FUNCTIONS has the functions of devstack that the plugin needs for
that.
"""

import os
import pathlib
import subprocess
import sys

from pcloud_sandbox.configuration import ini
from pcloud_sandbox.configuration import own_files
from pcloud_sandbox import errors

FUNCTIONS = r"""
set -eu
GLOBAL_VENV=False
for name in iniget_multiline iniset iniadd_literal inidelete; do
    eval "$name() { \"$PCLOUD_PYTHON\" -IS \"$PCLOUD_INI\" $name \"\$@\"; }"
done
is_service_enabled() {
    local name
    for name in "$@"; do
        if [[ ",$ENABLED_SERVICES," == *",$name,"* ]]; then return 0; fi
    done
    return 1
}
enable_service() { ENABLED_SERVICES+=,$1; }
async_wait() { :; }
define_plugin() { :; }
echo_summary() { echo "$*"; }
pip_uninstall() { :; }
die() { shift; echo "$*" >&2; exit 1; }
"""
_PLUGIN = """
source "$PCLOUD_PLUGIN/settings"
source "$PCLOUD_PLUGIN/plugin.sh" "$@"
"""


def folder() -> pathlib.Path:
    """Return the folder of the plugin: in a source tree, or installed.

    :raises: `FileNotFoundError` when the distribution has no plugin
    """
    return own_files.path('devstack/plugin.sh').parent


def run_phase(
    phase: list[str], nova_conf: pathlib.Path, api_paste: pathlib.Path,
    nova_filters: str, settings: dict[str, str] | None = None,
) -> str:
    """Run a phase of the plugin, such as ['stack', 'post-config'].

    :param nova_conf: the nova.conf to change
    :param api_paste: the api-paste.ini to change
    :param nova_filters: the filters when nova.conf names no filters
    :param settings: settings of the plugin
    :returns: the output of the plugin
    :raises: `SandboxError` when the plugin fails
    """
    variables = {
        'DEST': str(folder().parent),
        'ENABLED_SERVICES': 'n-api,n-sch,n-cond,n-cpu',
        'NOVA_CONF': str(nova_conf),
        'NOVA_API_PASTE_INI': str(api_paste),
        'NOVA_FILTERS': nova_filters,
        'PCLOUD_INI': ini.__file__,
        'PCLOUD_PLUGIN': str(folder()),
        'PCLOUD_PYTHON': sys.executable,
        **(settings or {}),
    }
    done = subprocess.run(
        ['bash', '-c', FUNCTIONS + _PLUGIN, 'devstack', *phase], check=False,
        env=os.environ | variables, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    if done.returncode:
        raise errors.SandboxError(
            f'devstack/plugin.sh {" ".join(phase)}: {done.stderr.strip()}')
    return done.stdout
