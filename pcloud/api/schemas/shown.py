# SPDX-License-Identifier: Apache-2.0

"""JSON schemas of what answers show, and the parts that they are made of.

A view has the schema of its answer beside it. An answer has the members of its
schema and no others, so that `pcloud.api.openapi` describes it exactly.
"""

from collections.abc import Mapping

TEXT: dict = {'type': 'string'}
TEXT_OR_NULL: dict = {'type': ['string', 'null']}
FLAG: dict = {'type': 'boolean'}
COUNT: dict = {'type': 'integer', 'minimum': 0}
COUNT_OR_NULL: dict = {'type': ['integer', 'null'], 'minimum': 0}
NUMBER_OR_NULL: dict = {'type': ['number', 'null']}
UUID: dict = {'type': 'string', 'format': 'uuid'}
UUID_OR_NULL: dict = {'type': ['string', 'null'], 'format': 'uuid'}
MOMENT: dict = {'type': 'string', 'format': 'date-time'}
MOMENT_OR_NULL: dict = {'type': ['string', 'null'], 'format': 'date-time'}


def members(
    required: Mapping[str, dict], optional: Mapping[str, dict] | None = None,
) -> dict:
    """Return the schema of an object with these members and no others.

    :param required: the schemas of the members that are always there
    :param optional: the schemas of the members that may be left out
    """
    return {'type': 'object',
            'properties': {**required, **(optional or {})},
            'required': [*required],
            'additionalProperties': False}


def named(name: str, shown: dict) -> dict:
    """Return the schema of ``{name: shown}``."""
    return members({name: shown})


def list_of(shown: dict) -> dict:
    """Return the schema of a list."""
    return {'type': 'array', 'items': shown}


def list_or_null(shown: dict) -> dict:
    """Return the schema of a list, null while nothing is known."""
    return {'type': ['array', 'null'], 'items': shown}


def map_of(shown: dict) -> dict:
    """Return the schema of an object whose members have names of their own."""
    return {'type': 'object', 'additionalProperties': shown}


def map_or_null(shown: dict) -> dict:
    """Return the schema of such an object, null while nothing is known."""
    return {'type': ['object', 'null'], 'additionalProperties': shown}


def any_of(*shown: dict) -> dict:
    """Return the schema of an answer that has one of several forms."""
    return {'anyOf': [*shown]}
