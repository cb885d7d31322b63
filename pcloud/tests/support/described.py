# SPDX-License-Identifier: Apache-2.0

"""Whether an answer of the API is as the table of all calls describes it."""

from collections.abc import Iterator
import functools

import jsonschema
import routes as routing

from pcloud.api import routes

_CHECKER = jsonschema.Draft202012Validator.FORMAT_CHECKER


@functools.cache
def _mapper() -> routing.Mapper:
    return routes.mapper()


@functools.cache
def _validator(method: str, template: str) -> jsonschema.Validator | None:
    route = routes.methods_of(template).get(method)
    if route is None or route.answer is None:
        return None
    return jsonschema.Draft202012Validator(
        route.answer, format_checker=_CHECKER)


def faults(method: str, path: str, status: int, body: object,
           ) -> Iterator[str]:
    """Yield what the description of a call does not say of its answer.

    :param path: below the compute endpoint, with or without a query
    :param body: the body of the answer, from JSON
    """
    found = _mapper().match('/' + path.lstrip('/').partition('?')[0])
    if found is None:
        return
    template = found['template']
    route = routes.methods_of(template).get(method)
    if route is None or not 200 <= status < 300:
        return
    if status not in (route.status, *route.also):
        yield f'status {status} is not described'
    validator = _validator(method, template)
    if validator is None:
        yield 'no body is described'
        return
    for error in validator.iter_errors(body):
        yield f'{list(error.absolute_path)}: {error.message[:500]}'
