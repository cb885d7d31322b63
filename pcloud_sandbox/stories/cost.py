# SPDX-License-Identifier: Apache-2.0

"""The units that each project uses, from the answers of Nova's API."""

from pcloud_sandbox import narrator
from pcloud_sandbox.stories import administrator


def show(teller: narrator.Narrator) -> dict[str, int]:
    """Print the units of each project against the project's quota.

    :returns: project name -> units in use
    :raises SandboxError: an API refuses, or does not answer
    """
    admin = administrator.Administrator()
    units = {name: admin.ask(f'/os-pcloud-quotas/{project_id}')
             ['quota']['units']
             for project_id, name in admin.projects().items()}
    teller.show(
        f'  {name:10} {of["in_use"]:3} of {of["limit"]} units '
        f'{"#" * of["in_use"]}'.rstrip() for name, of in sorted(units.items()))
    return {name: of['in_use'] for name, of in units.items()}
