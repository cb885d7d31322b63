# SPDX-License-Identifier: Apache-2.0

"""Weights of weighers: Nova's defaults, Pcloud's, and one's own.

Rule: reference-simulation-weights
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import re

from pcloud import exception

RAM, CPU, DISK, SERVERS = 'ram', 'cpu', 'disk', 'num_instances'
HYPERVISOR = 'hypervisor_version'
PLATFORM, REBOOT, HARDWARE = 'platform', 'reboot', 'hardware_class'

# The weighers that a trace gives different values for different hosts.
NOVA: Mapping[str, float] = {
    RAM: 1.0, CPU: 1.0, DISK: 1.0, HYPERVISOR: 1.0, SERVERS: 0.0}
PCLOUD: Mapping[str, float] = {PLATFORM: 1.0, REBOOT: 0.5, HARDWARE: 0.5}

# Among how many of the best hosts chance decides.
SUBSET = 'subset'

_OPTION = '--weights'
_COUNT = re.compile(r'[1-9]\d{0,5}', re.ASCII)
_NUMBER = re.compile(r'[-+]?\d{1,12}(\.\d{1,12})?', re.ASCII)
_FORM = ('weights such as platform=1.0,ram=-0.8,reboot=0.5, with a name such '
         'as packing: in front if wanted; the weighers are '
         + ', '.join([*PCLOUD, *NOVA]))


@dataclasses.dataclass(frozen=True)
class Weights:
    """The weights of a policy.

    :ivar name: how tables name the policy
    :ivar weights: weigher to multiplier; a weigher without one has 0
    :ivar subset: Nova's ``host_subset_size``
    """

    name: str
    weights: Mapping[str, float]
    subset: int = 1

    def weight(self, weigher: str) -> float:
        """Return the multiplier of a weigher."""
        return self.weights.get(weigher, 0.0)


def defaults() -> list[Weights]:
    """Return the defaults of Nova alone, and with Pcloud's weighers."""
    return [Weights('nova', NOVA), Weights('pcloud', {**NOVA, **PCLOUD})]


def parse(text: str) -> Weights:
    """Read the weights of a policy, ``[NAME:]WEIGHER=WEIGHT,...``.

    :returns: the policy, named by the text where no name is given
    :raises: `exception.InvalidValue`
    """
    name, colon, pairs = text.rpartition(':')
    if colon and not (name.strip() and name.isprintable()):
        raise exception.InvalidValue(_OPTION, text, _FORM)
    weights: dict[str, float] = {}
    subset = 0
    for pair in pairs.split(','):
        weigher, _, value = (part.strip() for part in pair.partition('='))
        if weigher == SUBSET and not subset and _COUNT.fullmatch(value):
            subset = int(value)
            continue
        if (weigher not in {*NOVA, *PCLOUD} or weigher in weights
                or not _NUMBER.fullmatch(value)):
            raise exception.InvalidValue(_OPTION, pair, _FORM)
        weights[weigher] = float(value)
    return Weights(name.strip() or pairs, weights, subset or 1)


def several(texts: Iterable[str]) -> list[Weights]:
    """Return the defaults and one's own policies.

    :raises: `exception.InvalidValue`, also when a name is there already
    """
    found = defaults()
    for text in texts:
        own = parse(text)
        if own.name in [weights.name for weights in found]:
            raise exception.InvalidValue(
                _OPTION, text, 'a policy with a name of its own')
        found.append(own)
    return found
