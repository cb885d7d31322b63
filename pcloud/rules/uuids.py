# SPDX-License-Identifier: Apache-2.0

"""The one form of a uuid, in which Nova and Pcloud write their ids.

Nova compares ids as text in its filters, and leaves the ids in URLs to its
database: MariaDB compares text without letter case, other databases do not.
In Pcloud a uuid in any other form (in capital letters, in braces, without
hyphens) names nothing, whatever the database: not in a hint, not in a URL and
not on a command line. A hint that names nothing opens no host.

=====================================  =====  ==========================
form of the uuid                       an id  the name of a service
=====================================  =====  ==========================
small letters and hyphens              yes    no
capital letters and hyphens            no     no
braces, no hyphens, ``urn:uuid:``      no     as any other text
=====================================  =====  ==========================

Rule: reference-hints-uuids
"""

import re

FORM = r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'

_ID = re.compile(FORM)
_IN_ANY_CASE = re.compile(FORM, re.ASCII | re.IGNORECASE)


def is_uuid(value: object) -> bool:
    """Whether a value is an id: a uuid in small letters."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def is_uuid_in_any_case(text: str) -> bool:
    """Whether a text is a uuid, in small or in capital letters.

    A uuid with a capital letter is no id, but readers would take a name of the
    same form for an id.
    """
    return _IN_ANY_CASE.fullmatch(text) is not None
