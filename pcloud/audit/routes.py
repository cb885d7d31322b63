# SPDX-License-Identifier: Apache-2.0

"""``/os-pcloud-audit``: the row of the table and the handler."""

from pcloud.api import call as api_call
from pcloud.api.policies import others
from pcloud.api import route
from pcloud.api.schemas import shown as answers
from pcloud.audit import all_checks
from pcloud.audit import findings

# The command that repairs whatever can be repaired.
REPAIR = 'pcloud-manage audit --fix'

ANSWER = answers.named('findings', answers.list_of(answers.members(
    dict.fromkeys(('kind', 'aggregate', 'text'), answers.TEXT),
    dict.fromkeys(('host', 'repair'), answers.TEXT))))


def index(call: api_call.Call) -> dict:
    """List what does not fit together; nothing is repaired.

    Rule: reference-audit
    """
    return {'findings': [_view(finding) for finding in (
        *all_checks.find(call.context), *all_checks.gaps(call.context))]}


def _view(finding: findings.Finding) -> dict:
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


ROUTES = [route.Route('GET', '/os-pcloud-audit', index, others.AUDIT_INDEX,
                      200, answer=ANSWER)]
