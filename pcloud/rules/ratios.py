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

"""Allocation ratios, read from text.

Nova keeps the metadata of aggregates as text, and lets administrators write
any text.

Rule: reference-ratios-values
"""

import functools
import re

from pcloud import exception

# Far above what any hypervisor bears.
MOST = 1024
# The greatest ratio that Placement keeps.
_MOST_OF_HOST = 3.40282e+38

_NUMBER = re.compile(r'\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?', re.ASCII)


# Each request asks for the ratios of its Pcloud.
@functools.lru_cache(maxsize=4096)
def of_pcloud(text: str) -> float:
    """Read a ratio that a Pcloud gives to its hosts.

    :raises: `exception.InvalidRatio`
    """
    ratio = _number(text)
    if not 0 < ratio <= MOST:
        raise exception.InvalidRatio(
            value=text, expected=f'a number above 0, at most {MOST}')
    return ratio


def of_host(text: str) -> float:
    """Read the former ratio of a host, as Placement has given the ratio.

    :raises: `exception.InvalidRatio`
    """
    ratio = _number(text)
    if not ratio <= _MOST_OF_HOST:
        raise exception.InvalidRatio(
            value=text, expected='a number that Placement holds')
    return ratio


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise exception.InvalidRatio(
            value=text, expected='a number such as 4 or 1.5')
    return float(text)
