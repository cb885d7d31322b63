# SPDX-License-Identifier: Apache-2.0

"""The forms of names and ids that people write, as regular expressions.

The rules, the schemas of the API and the store read the forms here. A form is
not anchored: `re.fullmatch` holds a whole text against a form, and a schema
anchors a form between ``^`` and ``\\Z``. The form of a uuid is in
`pcloud.rules.uuids`. The numbers of hosts that are added together are here
too.
"""

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
