# SPDX-License-Identifier: Apache-2.0

"""The forms of names and ids that people write, as regular expressions.

The rules, the schemas of the API and the store read the forms here. A form is
not anchored: `re.fullmatch` holds a whole text against a form, and a schema
anchors a form between ``^`` and ``\\Z``. The numbers of hosts that are added
together are here too.

Nova and Pcloud write their ids as uuids in one form. Nova compares ids as text
in its filters, and leaves the ids in URLs to its database: MariaDB compares
text without letter case, other databases do not. In Pcloud a uuid in any other
form (in capital letters, in braces, without hyphens) names nothing, whatever
the database: not in a hint, not in a URL and not on a command line. A hint
that names nothing opens no host.

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

# Nova keeps names, keys and values in columns of this many characters.
LIMIT = 255

# A name that stands in a path cannot be "." or "..", which mean the place
# itself and the place above.
_NO_DOTS = r'(?!\.{1,2}\Z)'

HOST_FLAVOR_ID = _NO_DOTS + '[A-Za-z0-9._-]{1,64}'
# The name that an owner gives to a host of a Pcloud.
HOST_NAME = _NO_DOTS + '[A-Za-z0-9._-]{1,63}'
# The name of a compute service.
COMPUTE_HOST = '[A-Za-z0-9._-]{1,255}'
# The id of a flavor of servers, as Nova has it.
FLAVOR_ID = '[A-Za-z0-9. _-]{1,255}'
# A server of a group: the server's flavor, and where its root disk is.
COMPANION = f'{FLAVOR_ID}(:volume)?'
# The name of a service, or the id of a server in the place of one.
SERVICE_OR_SERVER = _NO_DOTS + '[A-Za-z0-9._-]{1,64}'
# The name of a host attribute, which is the key of a machine constraint too.
ATTRIBUTE_NAME = _NO_DOTS + '(?! )[A-Za-z0-9._ -]{1,64}(?<! )'
# The id of a project or a domain, as Keystone has it, and the name of a role.
SCOPE_ID = '[A-Za-z0-9_-]{1,64}'

# The id of a project, as Keystone makes ids.
PROJECT_ID = '[0-9a-f]{32}'

UUID = r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
_ID = re.compile(UUID)
_ID_IN_ANY_CASE = re.compile(UUID, re.ASCII | re.IGNORECASE)

# How many hosts one call adds at most.
MOST_HOSTS = 50


def numbered(beginning: str, count: int, first: int) -> list[str]:
    """Return the names of hosts that are added together.

    =========  =====  =====  ===============================
    beginning  count  first  names
    =========  =====  =====  ===============================
    ``web``    3      1      ``web-1``, ``web-2``, ``web-3``
    ``web``    2      9      ``web-9``, ``web-10``
    =========  =====  =====  ===============================
    """
    return [f'{beginning}-{number}' for number in range(first, first + count)]


def is_uuid(value: object) -> bool:
    """Whether a value is an id: a uuid in small letters."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def is_project_id(text: str) -> bool:
    """Whether a text is the id of a project; any other text is a name."""
    return re.fullmatch(PROJECT_ID, text) is not None


def is_uuid_in_any_case(text: str) -> bool:
    """Whether a text is a uuid, in small or in capital letters.

    A uuid with a capital letter is no id, but readers would take a name of the
    same form for an id.
    """
    return _ID_IN_ANY_CASE.fullmatch(text) is not None
