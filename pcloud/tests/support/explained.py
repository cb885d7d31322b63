# SPDX-License-Identifier: Apache-2.0

"""Whether every reason in an answer of the API has its code and params."""

from collections.abc import Iterator
import typing

from pcloud.rules import coded

# The members with the words of a reason.
WORDS = ('text', 'reason', 'refused', 'problem')


def words(reasons: list[dict]) -> list[str]:
    """Return the words of a list of reasons."""
    return [each['text'] for each in reasons]


def faults(body: object) -> Iterator[str]:
    """Yield what is wrong with the reasons in the body of an answer."""
    if isinstance(body, list):
        for each in body:
            yield from faults(each)
    elif isinstance(body, dict):
        yield from _faults(body)
        for each in body.values():
            yield from faults(each)


def _faults(found: dict[str, typing.Any]) -> Iterator[str]:
    for each in found.get('not_explained', ()):
        if {'text', 'code', 'params'} != set(each):
            yield f'not explained: {each}'
    is_reason = 'params' in found or 'refused' in found or (
        {'rule', 'reason'} <= found.keys())
    if not is_reason:
        return
    words = [found[member] for member in WORDS if member in found]
    if found.get('code') is None:
        if 'code' not in found or found['params'] is not None or any(words):
            yield f'without a code: {found}'
    elif str(coded.Reason(found['code'], **found['params'])) not in words:
        yield f'other words: {found}'
