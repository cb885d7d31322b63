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

"""How a finding of the audit is shown."""

from pcloud.audit import findings

# The command that repairs whatever can be repaired.
REPAIR = 'pcloud-manage audit --fix'


def show(finding: findings.Finding) -> dict:
    """Return a finding, with real names, for administrators.

    "host" is absent where no host is concerned, and "repair" where an
    administrator has to decide.
    """
    shown = {'kind': finding.kind, 'aggregate': finding.aggregate,
             'text': finding.message}
    if isinstance(finding, findings.KeyFinding):
        shown['text'] = f'{finding.subject}: {finding.message}'
    elif finding.subject:
        shown['host'] = finding.subject
    if finding.repair is not None:
        shown['repair'] = REPAIR
    return shown
