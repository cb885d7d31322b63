# SPDX-License-Identifier: Apache-2.0

"""A row of the table of all calls, for the core and for the wings."""

from collections.abc import Callable
import dataclasses


@dataclasses.dataclass(frozen=True)
class Route:
    """A call of the API.

    :ivar path: below the compute endpoint, with ``{name}`` for parameters
    :ivar handler: takes a `call.Call`, returns the response's body, None, or
        a `call.Answer`
    :ivar rule: the policy rule that is checked first
    :ivar status: the status code of success
    :ivar schema: the JSON schema of the body, None without a body
    :ivar query: the JSON schema of the query string, None where the query
        string is not read
    :ivar answer: the JSON schema of the response's body, None without a body
    :ivar also: other status codes of success
    :ivar is_optional: whether a request may come without the body of `schema`
    """

    method: str
    path: str
    handler: Callable
    rule: str
    status: int
    schema: dict | None = None
    query: dict | None = None
    answer: dict | None = None
    also: tuple[int, ...] = ()
    is_optional: bool = False
