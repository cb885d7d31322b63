# SPDX-License-Identifier: Apache-2.0

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
