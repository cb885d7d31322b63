# SPDX-License-Identifier: Apache-2.0

"""Types of several schemas.

Patterns end in ``\\Z``: ``$`` would also match before a trailing newline. The
description of a schema states what is right, in words that complete the
sentence "it has to be"; the error of a wrong value shows the description.
"""

from pcloud.rules import forms
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import maintenance_windows
from pcloud.rules.moving import recovery
from pcloud.rules.moving import shrinking
from pcloud.rules.placing import house_rules
from pcloud.rules import ratios
from pcloud.rules import units as unit_rules
from pcloud.rules.usage import ledger

# Nova's databases keep characters of the basic multilingual plane only;
# control characters break tables, and lone surrogates cannot be encoded.
_NO_CONTROL = r'[ -~\u00a0-\u2027\u202a-\ud7ff\ue000-\uffff]'

_PRINTED = ('without control characters and without characters beyond '
            'U+FFFF')

text = {'type': 'string', 'maxLength': 255,
        'pattern': rf'^{_NO_CONTROL}*\Z',
        'description': f'at most 255 characters, {_PRINTED}'}

# A moment that was set can be taken away.
moment_or_null = {**text, 'type': ['string', 'null'],
                  'description': 'a moment in ISO 8601, or null'}

# What is right of a moment is said with the error.
moment = {**text, 'description': 'a moment in ISO 8601, such as '
                                 '2026-12-31T23:59:59Z'}

maintenance_reason = {
    'type': 'string', 'maxLength': maintenance_windows.REASON_LENGTH,
    'pattern': rf'^{_NO_CONTROL}*\Z',
    'description': f'at most {maintenance_windows.REASON_LENGTH} characters, '
                   f'{_PRINTED}'}

constraints = {'type': 'string', 'maxLength': 4096,
               'pattern': rf'^{_NO_CONTROL}*\Z',
               'description': f'at most 4096 characters, {_PRINTED}'}

display_name = {'type': 'string', 'minLength': 1, 'maxLength': 255,
                'pattern': rf'^(?=.*\S){_NO_CONTROL}+\Z',
                'description': '1 to 255 characters, at least one of them '
                               f'not a blank, {_PRINTED}'}

# Of a project or a domain. No name in Keystone is longer.
keystone_name = {'type': 'string', 'minLength': 1, 'maxLength': 64,
                 'pattern': rf'^(?=.*\S){_NO_CONTROL}+\Z',
                 'description': '1 to 64 characters, at least one of them '
                                f'not a blank, {_PRINTED}'}

# Blanks at an end would be lost in some databases, and seen in no table.
trimmed = {'type': 'string', 'minLength': 1, 'maxLength': 255,
           'pattern': rf'^(?!\s){_NO_CONTROL}+(?<!\s)\Z',
           'description': '1 to 255 characters, without a blank at either '
                          f'end, {_PRINTED}'}

host_flavor_id = {'type': 'string', 'pattern': rf'^{forms.HOST_FLAVOR_ID}\Z',
                  'description': '1 to 64 letters, digits, ".", "_" and "-", '
                                 'and neither "." nor ".."'}

host_name = {'type': 'string', 'pattern': rf'^{forms.HOST_NAME}\Z',
             'description': '1 to 63 letters, digits, ".", "_" and "-", and '
                            'neither "." nor ".."'}

compute_host = {'type': 'string', 'pattern': rf'^{forms.COMPUTE_HOST}\Z',
                'description': 'the name of a compute service: 1 to 255 '
                               'letters, digits, ".", "_" and "-"'}

pcloud_id = {'type': 'string', 'pattern': rf'^{forms.UUID}\Z',
             'description': 'the id of a Pcloud, a uuid in small letters'}

# Of a project, a domain, a Pcloud or a role.
scope_id = {'type': 'string', 'pattern': rf'^{forms.SCOPE_ID}\Z',
            'description': '1 to 64 letters, digits, "_" and "-"'}

attribute_name = {
    'type': 'string', 'pattern': rf'^{forms.ATTRIBUTE_NAME}\Z',
    'description': '1 to 64 letters, digits, ".", "_", "-" and inner blanks, '
                   'and neither "." nor ".."'}

limit = {'type': 'string', 'pattern': r'^[0-9]{1,9}\Z',
         'description': 'a whole number of at most 9 digits'}

query_flag = {'type': 'string', 'enum': [
    '0', '1', 'false', 'true', 'False', 'True']}

# The query of a call that can be made by force.
force = {'type': 'object', 'properties': {'force': query_flag},
         'additionalProperties': False}

flavor_id = {'type': 'string', 'pattern': rf'^{forms.FLAVOR_ID}\Z',
             'description': 'the id of a flavor: 1 to 255 letters, digits, '
                            '".", "_", "-" and blanks'}

image_id = {'type': 'string', 'pattern': rf'^{forms.UUID}\Z',
            'description': 'the id of an image, a uuid in small letters'}

companion = {'type': 'string', 'pattern': rf'^{forms.COMPANION}\Z',
             'description': 'the id of a flavor, followed by ":volume" where '
                            'the root disk is a volume'}

service_or_server = {'type': 'string',
                     'pattern': rf'^{forms.SERVICE_OR_SERVER}\Z',
                     'description': 'the name of a service, 1 to 64 letters, '
                                    'digits, ".", "_" and "-", or the id of '
                                    'a server'}

# The sum of many units still fits the integers of every client.
units = {'type': 'integer', 'minimum': 0, 'maximum': unit_rules.MOST}

price = {'type': ['string', 'null'], 'pattern': rf'^{ledger.PRICE}\Z',
         'description': 'a decimal number in quotes, of at most 9 digits and '
                        'at most 6 after the point, or null'}

# How much a tenant may use. Whatever Nova counts is less.
cap = {'type': ['integer', 'null'], 'minimum': 0, 'maximum': 2 ** 31 - 1,
       'description': 'a whole number from 0 to 2147483647, or null'}


def body(name: str, properties: dict, required: list[str]) -> dict:
    """Return the schema of a body with a single object, ``{name: {...}}``.

    :param required: the names of the members that the object must have
    """
    return {
        'type': 'object',
        'properties': {
            name: {
                'type': 'object',
                'properties': properties,
                'required': required,
                'additionalProperties': False,
            },
        },
        'required': [name],
        'additionalProperties': False,
    }


def ids(one: dict) -> dict:
    """Return the schema of a list of ids that a Pcloud takes; null is all.

    :param one: the schema of an id
    """
    return {'type': ['array', 'null'], 'items': one, 'uniqueItems': True,
            'maxItems': house_rules.MOST_IDS}


maintenance_policy = {
    'enum': [*maintenance_policies.POLICIES, None],
    'description': f'one of {", ".join(maintenance_policies.POLICIES)}'}

host_recovery = {
    'enum': [*recovery.POLICIES, None],
    'description': f'one of {", ".join(recovery.POLICIES)}'}

ratio = {'type': ['number', 'null'], 'exclusiveMinimum': 0,
         'maximum': ratios.MOST}

shrink = {
    'type': ['object', 'null'],
    'properties': {
        'after_hours': {'type': 'integer', 'minimum': 1,
                        'maximum': shrinking.MOST_HOURS},
        'min_hosts': {'type': 'integer', 'minimum': 0,
                      'maximum': shrinking.MOST_HOSTS},
        'keep_spare': {'type': 'integer', 'minimum': 0,
                       'maximum': shrinking.MOST_HOSTS}},
    'required': ['after_hours', 'min_hosts', 'keep_spare'],
    'additionalProperties': False}
