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

"""How the API shows whether servers fit together."""

import dataclasses

from pcloud.explain import bundles


def show(simulation: bundles.Simulation) -> dict:
    """Return a simulation for the owner, with the owner's names of hosts."""
    return {
        'fits': simulation.fits,
        'refused': simulation.refused,
        'exact': simulation.exact,
        'placed': [dataclasses.asdict(each) for each in simulation.placed],
        'binding': [dataclasses.asdict(each) for each in simulation.binding],
        'enable': list(simulation.enable),
        'more': [dataclasses.asdict(each) for each in simulation.more],
        'bounds': {'least': simulation.least, 'most': simulation.most},
        'not_explained': list(simulation.not_explained)}
