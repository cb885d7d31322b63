# SPDX-License-Identifier: Apache-2.0
"""The findings of an audit."""

from collections.abc import Callable
import dataclasses

from nova import context as nova_context


@dataclasses.dataclass(frozen=True)
class Finding:
    """A defect found by an audit.

    :ivar kind: a short name for the sort of defect
    :ivar aggregate: the name of the aggregate with the defect
    :ivar subject: the host with the defect; '' when no host has the defect
    :ivar message: what is wrong, for an administrator: real names are shown
    :ivar repair: repairs the defect when called with a context, and returns
        what was done; None where an administrator has to decide
    """

    kind: str
    aggregate: str
    subject: str
    message: str = dataclasses.field(compare=False)
    repair: Callable[[nova_context.RequestContext], str] | None = (
        dataclasses.field(default=None, compare=False))


class KeyFinding(Finding):
    """A defect of a metadata key, extra spec or attribute, the subject."""


# The kind of what could not be looked at.
NOT_LOOKED_AT = 'not-looked-at'
