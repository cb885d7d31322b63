# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
