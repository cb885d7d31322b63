# SPDX-License-Identifier: Apache-2.0

"""How the API shows what happens when hosts of a Pcloud fail."""

import dataclasses

from pcloud.explain import rehearsals


def show(rehearsal: rehearsals.Rehearsal) -> dict:
    """Return a rehearsal for the owner, with the owner's names of hosts."""
    worst = rehearsal.worst
    return {
        'survives': rehearsal.least,
        'of': len(rehearsal.losses),
        'exact': rehearsal.least == rehearsal.most,
        'bounds': {'least': rehearsal.least, 'most': rehearsal.most},
        'worst': None if worst is None else {
            rehearsal.lose: worst.name, 'servers': worst.least},
        'losses': [{
            rehearsal.lose: lost.name,
            **({} if rehearsal.lose == rehearsals.HOST else
               {'hosts': list(lost.hosts)}),
            'servers': lost.servers,
            'survives': lost.survives,
            'no_room': {'least': lost.least, 'most': lost.most},
        } for lost in rehearsal.losses],
        'more': [dataclasses.asdict(each) for each in rehearsal.more],
        'refused_servers': [dataclasses.asdict(each)
                            for each in rehearsal.refused_servers],
        'not_explained': list(rehearsal.not_explained),
    }
