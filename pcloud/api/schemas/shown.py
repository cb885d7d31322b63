# SPDX-License-Identifier: Apache-2.0

"""JSON schemas of what answers show, and the parts that they are made of.

A view has the schema of its answer beside it. An answer has the members of its
schema and no others, so that `pcloud.api.openapi` describes it exactly.
"""

from collections.abc import Mapping


def or_null(shown: dict) -> dict:
    """Return a schema that allows null too: nothing is known, or is there."""
    return {**shown, 'type': [shown['type'], 'null']}


TEXT: dict = {'type': 'string'}
TEXT_OR_NULL = or_null(TEXT)
FLAG: dict = {'type': 'boolean'}
COUNT: dict = {'type': 'integer', 'minimum': 0}
COUNT_OR_NULL = or_null(COUNT)
NUMBER_OR_NULL = or_null({'type': 'number'})
UUID: dict = {'type': 'string', 'format': 'uuid'}
UUID_OR_NULL = or_null(UUID)
MOMENT: dict = {'type': 'string', 'format': 'date-time'}
MOMENT_OR_NULL = or_null(MOMENT)


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


def map_of(shown: dict) -> dict:
    """Return the schema of an object whose members have names of their own."""
    return {'type': 'object', 'additionalProperties': shown}


def any_of(*shown: dict) -> dict:
    """Return the schema of an answer that has one of several forms."""
    return {'anyOf': [*shown]}
