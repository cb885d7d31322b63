# SPDX-License-Identifier: Apache-2.0

"""Read Pcloud's values in metadata, whatever is written there.

Nova lets an administrator write any value. An unreadable value counts as the
most careful value, is written to the log once, and is a finding of `audit`.
"""

from collections.abc import Callable
from collections.abc import Mapping
from typing import TypeVar

from pcloud.backend import complaints
from pcloud import exception
from pcloud import names
from pcloud.rules import ratios
from pcloud.rules import units as unit_rules
from pcloud.rules.usage import ledger
from pcloud.rules import waiting

_T = TypeVar('_T')

_WHERE = '"pcloud-manage audit" tells where it is set.'
RATIOS = (names.CPU_RATIO, names.RAM_RATIO)


def ratio(metadata: Mapping[str, str], key: str) -> float | None:
    """Return a ratio of a Pcloud; None for an unset or unreadable ratio.

    :param key: one of `RATIOS`
    """
    return _read(metadata, key, ratios.of_pcloud)


def own_ratios(metadata: Mapping[str, str], host: str) -> dict[str, float]:
    """Return the own ratios of a host, as far as a Pcloud has kept them.

    :param metadata: with the journal's rows of the host
    :param host: the service host
    :returns: ratios by `RATIOS`; none when the ratios cannot be read
    """
    own = _read(metadata, names.OWN_PREFIX + host, ratios.OwnRatios.read)
    if own is None:
        return {}
    return {name: ratio for name, ratio in zip(RATIOS, (own.cpu, own.ram))
            if ratio is not None}


def own_ratios_text(own: Mapping[str, float]) -> str:
    """Return the text that `own_ratios` reads.

    :param own: ratios by `RATIOS`
    """
    return ratios.OwnRatios(*map(own.get, RATIOS)).text()


def is_clear(metadata: Mapping[str, str]) -> bool:
    """Whether every ratio set on a Pcloud can be read."""
    return all(key not in metadata or ratio(metadata, key) is not None
               for key in RATIOS)


def units(metadata: Mapping[str, str]) -> int | None:
    """Return the units of a host of a pool; None for unknown units."""
    return _read(metadata, names.UNITS, unit_rules.read)


def price(metadata: Mapping[str, str]) -> str | None:
    """Return the price of a host of a pool; None for an unknown price."""
    return _read(metadata, names.PRICE, ledger.read_price)


def limit(metadata: Mapping[str, str]) -> int | None:
    """Return a project's limit of units; None for an unset limit.

    An unreadable limit allows no units.
    """
    if names.QUOTA_UNITS not in metadata:
        return None
    value = _read(metadata, names.QUOTA_UNITS, unit_rules.limit)
    return 0 if value is None else value


def share(metadata: Mapping[str, str]) -> float | None:
    """Return a project's share of waiting lists; None for an unset share.

    An unreadable share counts as none.
    """
    return _read(metadata, names.SHARE, waiting.share)


def _read(
    metadata: Mapping[str, str], key: str, read: Callable[[str], _T],
) -> _T | None:
    if key not in metadata:
        return None
    try:
        return read(metadata[key])
    except exception.Invalid as error:
        complaints.once(f'Metadata {key}: {error} {_WHERE}')
        return None
