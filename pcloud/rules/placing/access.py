# SPDX-License-Identifier: Apache-2.0

"""Who may be placed on a host of a pool or a Pcloud: the one decision.

The request filter, the scheduler filter, the guards of calls for which Nova
skips both filters, the audit and every explanation ask this module, so the
answers cannot disagree.
"""

from collections.abc import Collection
from collections.abc import Mapping
import dataclasses

from pcloud.rules import coded

ENABLED = 'enabled'
DISABLED = 'disabled'
STATES = (ENABLED, DISABLED)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A decision and its reason; true when the decision lets the request pass.

    The project of the request may read the reason, which names no host.
    """

    allowed: bool
    reason: coded.Reason

    def __bool__(self) -> bool:
        return self.allowed


# Made once: a verdict is asked for every host of the cloud.
_NOT_A_TENANT = Verdict(False, coded.Reason('pcloud_unknown'))
_UNCLEAR = Verdict(False, coded.Reason('inconsistent'))
_TENANT = Verdict(True, coded.Reason('is_tenant'))
_NOT_IN_PCLOUD = Verdict(False, coded.Reason('host_not_in_pcloud'))
_NOT_NAMED = Verdict(False, coded.Reason('host_not_named'))
_SHARED = Verdict(False, coded.Reason('host_shared'))
_NO_STATE = Verdict(False, coded.Reason('host_stateless'))
IS_DUE = Verdict(False, coded.Reason('host_due'))
IS_LEAVING = Verdict(False, coded.Reason('host_leaving'))
IS_DISABLED = Verdict(False, coded.Reason('host_disabled'))
IS_UNOPENED = Verdict(False, coded.Reason('host_unopened'))
_BY_STATE = {
    ENABLED: Verdict(True, coded.Reason('host_enabled')),
    DISABLED: IS_DISABLED,
}
_CLOSED = Verdict(False, coded.Reason('host_kept'))
_PUBLIC = Verdict(True, coded.Reason('host_public'))


@dataclasses.dataclass(frozen=True)
class Pcloud:
    """What access to one Pcloud depends on.

    :ivar id: the Pcloud's id
    :ivar tenants: ids of the projects allowed to start servers in the Pcloud
    :ivar hosts: ``service host -> number of Pcloud aggregates with the host``
        for the hosts of the Pcloud's aggregate (always 1 when all is well)
    :ivar states: ``hypervisor hostname -> 'enabled' or 'disabled'``
    :ivar due: service hosts with a change not yet told to Placement
    :ivar owner: the project id of the owner
    :ivar is_clear: whether the values for all hosts of the Pcloud together
        can be read
    :ivar unopened: service hosts that were never enabled
    :ivar leaving: service hosts that have joined for a maintenance that is
        over
    :ivar named: ``owner's name of a host -> hypervisor hostname``
    :ivar pin_by_tenants: whether tenants other than the owner may name the
        host of a server
    :ivar flavors: the ids of the flavors that the Pcloud takes, None for all;
        likewise `images`
    :ivar pin: the owner's name of the only host for a server, None where the
        server may have any host
    :ivar caps: ``project id -> how much the tenant may use``, as written; no
        entry for a tenant without caps
    :ivar maintenances: ``service host -> maintenance`` of the hosts with one,
        as written
    """

    id: str
    tenants: frozenset[str]
    hosts: Mapping[str, int]
    states: Mapping[str, str]
    due: frozenset[str] = frozenset()
    owner: str = ''
    is_clear: bool = True
    unopened: frozenset[str] = frozenset()
    leaving: frozenset[str] = frozenset()
    named: Mapping[str, str] = dataclasses.field(default_factory=dict)
    pin_by_tenants: bool = False
    flavors: frozenset[str] | None = None
    images: frozenset[str] | None = None
    pin: str | None = None
    caps: Mapping[str, str] = dataclasses.field(default_factory=dict)
    maintenances: Mapping[str, str] = dataclasses.field(default_factory=dict)


def state(text: str | None) -> str | None:
    """Return the state named by a text; None for any other text."""
    return text if text in STATES else None


def project_verdict(pcloud: Pcloud | None, project_id: str) -> Verdict:
    """Decide whether a project may use a Pcloud at all.

    ==========  ============  ======
    Pcloud      project       passes
    ==========  ============  ======
    unknown     any           no
    known       not a tenant  no
    not clear   a tenant      no
    known       a tenant      yes
    ==========  ============  ======

    The first two rows have the same reason, so nobody learns which Pclouds
    exist.

    :param pcloud: the Pcloud named by the hint, None when there is no such
        Pcloud

    Rule: reference-isolation-project
    """
    if pcloud is None or project_id not in pcloud.tenants:
        return _NOT_A_TENANT
    return _TENANT if pcloud.is_clear else _UNCLEAR


def host_verdict(pcloud: Pcloud, host: str, node: str) -> Verdict:
    """Decide whether a host of a Pcloud takes servers of the Pcloud's tenants.

    No host of a Pcloud that is not clear takes servers, and of a Pcloud with a
    pin no host but the one that the pin names. Else:

    ==============  ===================  ===  =======  ========  ========  ====
    in this Pcloud  in how many Pclouds  due  leaving  state     unopened  pass
    ==============  ===================  ===  =======  ========  ========  ====
    no              any                  any  any      any       any       no
    yes             two or more          any  any      any       any       no
    yes             one                  yes  any      any       any       no
    yes             one                  no   yes      any       any       no
    yes             one                  no   no       none      any       no
    yes             one                  no   no       disabled  any       no
    yes             one                  no   no       enabled   yes       no
    yes             one                  no   no       enabled   no        yes
    ==============  ===================  ===  =======  ========  ========  ====

    :param pcloud: a Pcloud that the project may use
    :param host: the service host
    :param node: the hypervisor hostname of the host, which the state is
        stored under

    Rule: reference-isolation-host
    """
    if host not in pcloud.hosts:
        return _NOT_IN_PCLOUD
    if not pcloud.is_clear:
        return _UNCLEAR
    if pcloud.pin is not None and pcloud.named.get(pcloud.pin) != node:
        return _NOT_NAMED
    if pcloud.hosts[host] != 1:
        return _SHARED
    if host in pcloud.due:
        return IS_DUE
    if host in pcloud.leaving:
        return IS_LEAVING
    verdict = _BY_STATE.get(pcloud.states.get(node, ''), _NO_STATE)
    return IS_UNOPENED if verdict and host in pcloud.unopened else verdict


def public_verdict(host: str, closed_hosts: Collection[str]) -> Verdict:
    """Decide whether a host takes servers that ask for no Pcloud.

    ================  ======
    in pool or        passes
    Pcloud
    ================  ======
    no                yes
    yes               no
    ================  ======

    :param host: the service host
    :param closed_hosts: the service hosts of all pools and Pclouds

    Rule: reference-isolation-public
    """
    return _CLOSED if host in closed_hosts else _PUBLIC
