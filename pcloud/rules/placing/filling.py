# SPDX-License-Identifier: Apache-2.0

"""How the hosts of a Pcloud are filled: by weighers of Nova.

Nova's weighers read their multipliers from the metadata of the aggregates of a
host. So the owner's choice is written there, and costs no request anything.

=========  ==========================================================
choice     a server goes
=========  ==========================================================
default    where the operator's own multipliers send the server
pack       to the host with the least free memory, processors and disk
spread     to the host with the most
=========  ==========================================================

Rule: reference-house-rules-placement
"""

DEFAULT, PACK, SPREAD = CHOICES = 'default', 'pack', 'spread'

# The metadata keys that Nova's weighers of memory, processors and disk read.
KEYS = ('ram_weight_multiplier', 'cpu_weight_multiplier',
        'disk_weight_multiplier')
# The greatest share of a weigher in a sum, as Nova has it by default.
_MULTIPLIER = {PACK: '-1.0', SPREAD: '1.0'}


def multipliers(choice: str) -> dict[str, str | None]:
    """Return the metadata of a choice; None for no value.

    :param choice: one of `CHOICES`
    """
    return dict.fromkeys(KEYS, _MULTIPLIER.get(choice))


def known(text: str | None) -> str | None:
    """Return the choice in a metadata value, None where there is none."""
    return text if text in CHOICES else None
