# SPDX-License-Identifier: Apache-2.0

"""What a wish does later, and who may have the wish.

A call may ask for what is done later, when nobody's token is there: hosts are
drained, join and leave, servers are moved. Whoever has such a wish needs the
rules of all the calls by which a user would do the same by hand.

Rule: reference-draining-rights
"""

from collections.abc import Iterable
from collections.abc import Mapping

from pcloud.api import call as api_call
from pcloud.api.policies import hosts
from pcloud import exception
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import recovery

# The wishes of the table in `check`.
CLOSE, MOVE, RELEASE = 'drain', 'move', 'release'
MIGRATE, REPLACE = 'policy migrate', 'policy replace'
RECOVER, RECOVER_BY_OTHERS = 'recovery in_place', 'recovery replace'
GROW, REBALANCE, SHRINK = 'default grow', 'rebalance', 'shrink'

RULES: Mapping[str, tuple[str, ...]] = {
    CLOSE: (hosts.UPDATE,),
    MOVE: (hosts.UPDATE, hosts.MOVE),
    RELEASE: (hosts.UPDATE, hosts.REMOVE),
    MIGRATE: (hosts.UPDATE, hosts.MOVE),
    REPLACE: (hosts.UPDATE, hosts.MOVE, hosts.ADD, hosts.REMOVE),
    RECOVER: (hosts.UPDATE, hosts.MOVE),
    RECOVER_BY_OTHERS: (
        hosts.UPDATE, hosts.MOVE, hosts.ADD, hosts.REMOVE),
    GROW: (hosts.UPDATE, hosts.ADD),
    REBALANCE: (hosts.MOVE,),
    SHRINK: (hosts.UPDATE, hosts.REMOVE)}


def check(
    call: api_call.Call, project_id: str, wishes: Iterable[str],
) -> None:
    """Refuse wishes of a caller who could not do the same by hand.

    ==============================================  ======  ====  ===  ======
    wish                                            update  move  add  remove
    ==============================================  ======  ====  ===  ======
    a drain                                         yes     no    no   no
    a drain with the move ``live`` or ``any``       yes     yes   no   no
    a drain with ``release``                        yes     no    no   yes
    the maintenance policy ``stay``                 no      no    no   no
    the maintenance policy ``migrate``              yes     yes   no   no
    the maintenance policy ``replace``              yes     yes   yes  yes
    the recovery of hosts ``off``                   no      no    no   no
    the recovery of hosts ``in_place``              yes     yes   no   no
    the recovery of hosts ``replace``               yes     yes   yes  yes
    a default Pcloud in the mode ``grow``           yes     no    yes  no
    a rebalance                                     no      yes   no   no
    that empty hosts leave                          yes     no    no   yes
    ==============================================  ======  ====  ===  ======

    :param project_id: the owner of the Pcloud that the wishes are about
    :raises: `exception.PolicyForbids`, which names all rules that are missing
    """
    needed = dict.fromkeys(
        rule for wish in wishes for rule in RULES[wish])
    missing = [rule for rule in needed if not call.can(rule, project_id)]
    if missing:
        raise exception.PolicyForbids(rule=' and '.join(missing))


def of_drain(drain: draining.Drain) -> list[str]:
    """Return the wishes that a drain is."""
    return [CLOSE] + [MOVE] * (drain.move != draining.NONE) + (
        [RELEASE] * drain.release)


def of_policy(policy: str | None) -> list[str]:
    """Return the wishes that a maintenance policy is.

    :param policy: one of `maintenance_policies.POLICIES`, or None for
        `maintenance_policies.STAY`
    """
    return {maintenance_policies.MIGRATE: [MIGRATE],
            maintenance_policies.REPLACE: [REPLACE]}.get(policy or '', [])


def of_recovery(policy: str | None) -> list[str]:
    """Return the wishes that a recovery of hosts is.

    :param policy: one of `recovery.POLICIES`, or None for `recovery.OFF`
    """
    return {recovery.IN_PLACE: [RECOVER],
            recovery.REPLACE: [RECOVER_BY_OTHERS]}.get(policy or '', [])


def of_shrink(members: Mapping[str, int] | None) -> list[str]:
    """Return the wishes that it is that empty hosts leave.

    :param members: as in the body, None for no such wish
    """
    return [] if members is None else [SHRINK]
