# SPDX-License-Identifier: Apache-2.0

"""How a reason is shown: in words, with the code and its params beside.

Rule: reference-reasons
"""

from collections.abc import Iterable

from pcloud.api.schemas import shown
from pcloud.rules import coded


def members(member: str) -> dict[str, dict]:
    """Return the schemas of the members that `show` returns.

    :param member: the name of the member with the words
    """
    return {member: shown.TEXT_OR_NULL, 'code': shown.TEXT_OR_NULL,
            'params': shown.or_null({'type': 'object'})}


ALL = shown.list_of(shown.members({
    'text': shown.TEXT, 'code': shown.TEXT, 'params': {'type': 'object'}}))


def show(member: str, reason: coded.Reason | None) -> dict:
    """Return the members of an object that has a reason, null for none.

    :param member: the name of the member with the words
    """
    if reason is None:
        return {member: None, 'code': None, 'params': None}
    return {member: str(reason), 'code': reason.code, 'params': reason.params}


def show_all(reasons: Iterable[coded.Reason]) -> list[dict]:
    """Return a list of reasons, each an object."""
    return [show('text', reason) for reason in reasons]
