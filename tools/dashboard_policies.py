# SPDX-License-Identifier: Apache-2.0

"""Write the policies that the dashboard reads, from those of the API.

``python tools/dashboard_policies.py`` writes both files of
``pcloud_dashboard/conf``. A unit test holds that they are up to date.
"""

import pathlib

from nova.policies import base
import yaml

from pcloud.api import policies

CONF = pathlib.Path(__file__).parents[1] / 'pcloud_dashboard' / 'conf'
# The rules of Nova that rules of Pcloud refer to, and what those refer to.
NOVA = ('context_is_admin', 'project_member_api', 'project_reader_api',
        'project_member_or_admin', 'project_reader_or_admin')
OWN = '''\
# Policies of Pcloud that differ from the defaults, as in the policy file of
# nova-api. Or set POLICY_FILES['pcloud'] in local_settings.py to that file.
'''


def defaults() -> str:
    """Return the default policies, as Horizon reads them.

    The deprecated rules that Nova's own have had are left out: Nova does not
    follow them by default, and they would show buttons to readers.
    """
    nova = {rule.name: rule for rule in base.list_rules()}
    rules = [*(nova[name] for name in NOVA), *policies.list_rules()]
    return yaml.safe_dump([{
        'name': rule.name, 'check_str': rule.check_str,
        'description': rule.description,
        'scope_types': rule.scope_types,
        'operations': getattr(rule, 'operations', []),
    } for rule in rules])


if __name__ == '__main__':
    (CONF / 'pcloud_policy.yaml').write_text(OWN)
    (CONF / 'default_policies' / 'pcloud.yaml').write_text(defaults())
