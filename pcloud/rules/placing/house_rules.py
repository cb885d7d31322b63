# SPDX-License-Identifier: Apache-2.0

"""What the owner of a Pcloud allows there, beside the choice of tenants.

nova-api, the request filter and the scheduler filter ask this module, so the
answers cannot disagree.

Rule: reference-house-rules
"""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from pcloud import exception
from pcloud.rules.placing import access
from pcloud.rules.placing import hints as hint_rules

# The metadata values of a rule that is switched on, and off by the owner.
ON, OFF = '1', '0'


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a request for a server asks a Pcloud for.

    :ivar project: the id of the project of the server
    :ivar host: the owner's name of the only host for the server, in any
        letter case; None for any host
    """

    project: str
    host: str | None = None


def asked(
    project: str, hints: Mapping[str, Sequence[str] | None] | None,
) -> Asked:
    """Return what the hints of a server ask for.

    :param hints: as in a request spec
    :raises: `exception.InvalidValue`
    """
    return Asked(project, hint_rules.host_name(hints))


def narrowed(pcloud: access.Pcloud, asked: Asked) -> access.Pcloud:
    """Return a Pcloud with the hosts that a server may have.

    ================  ==============  ===========  =================
    host named        project         host known   result
    ================  ==============  ===========  =================
    no                any tenant      any          all hosts
    yes               the owner       yes          the host alone
    yes               the owner       no           `NamedHostUnknown`
    yes               another tenant  any          `HouseRuleBroken`
    yes, where        another tenant  as for the   as for the owner
    `pin_by_tenants`                  owner
    ================  ==============  ===========  =================

    Names that differ in letter case alone are the same, as among the hosts of
    a Pcloud. A tenant who may not name hosts learns no names.

    :param pcloud: a Pcloud that the project may use
    :raises: `exception.HouseRuleBroken`, `exception.NamedHostUnknown`

    Rule: reference-house-rules-pin
    """
    if asked.host is None:
        return pcloud
    if asked.project != pcloud.owner and not pcloud.pin_by_tenants:
        raise exception.HouseRuleBroken(
            pcloud=pcloud.id, reason='its owner alone may name the host of '
            f'a server; leave the hint {hint_rules.HOST} out, or ask the '
            'owner to set pin_by_tenants')
    pin = next((name for name in pcloud.named
                if name.lower() == asked.host.lower()), None)
    if pin is None:
        raise exception.NamedHostUnknown(
            pcloud=pcloud.id, reason=f"it has no host named '{asked.host}', "
            f'which the hint {hint_rules.HOST} asks for; name one of its '
            'hosts')
    return dataclasses.replace(pcloud, pin=pin)
