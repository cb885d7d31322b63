# SPDX-License-Identifier: Apache-2.0

"""``/os-pcloud-audit``."""

from pcloud.api import call as api_call
from pcloud.api.views import findings as views
from pcloud.audit import all_checks


def index(call: api_call.Call) -> dict:
    """List what does not fit together; nothing is repaired.

    Rule: reference-audit
    """
    return {'findings': [views.show(finding) for finding
                         in all_checks.find(call.context)]}
