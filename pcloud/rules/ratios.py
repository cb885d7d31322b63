# SPDX-License-Identifier: Apache-2.0

"""Allocation ratios, read from text.

Nova keeps the metadata of aggregates as text, and lets administrators write
any text.

Rule: reference-ratios-values
"""

import dataclasses
import re

from pcloud import exception
from pcloud.rules import record

# Far above what any hypervisor bears.
MOST = 1024

_NUMBER = re.compile(r'\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?', re.ASCII)


def of_pcloud(text: str) -> float:
    """Read a ratio that a Pcloud gives to its hosts.

    :raises: `exception.InvalidValue`
    """
    ratio = _number(text)
    if not 0 < ratio <= MOST:
        raise exception.InvalidValue(
            'Allocation ratio', text, f'a number above 0, at most {MOST}')
    return ratio


@dataclasses.dataclass(frozen=True)
class OwnRatios(record.Record):
    """The former ratios of a host.

    :ivar cpu: the ratio of cpus, None for no ratio; likewise ram
    """

    cpu: float | None = dataclasses.field(default=None, metadata=record.RATIO)
    ram: float | None = dataclasses.field(default=None, metadata=record.RATIO)


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise exception.InvalidValue(
            'Allocation ratio', text, 'a number such as 4 or 1.5')
    return float(text)
