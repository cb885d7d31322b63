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

"""Names for new hosts of a Pcloud."""

from collections.abc import Iterable

# What stands for the number at the end of a pattern.
NUMBER = '{n}'


def is_pattern(text: str) -> bool:
    """Whether a number can be only at the end of the names."""
    return NUMBER not in text.removesuffix(f'-{NUMBER}')


def beginning(pattern: str, count: int) -> str | None:
    """Return what the numbers of new hosts follow.

    ===========  ==========================  =========
    pattern      count                       beginning
    ===========  ==========================  =========
    ``web-{n}``  any                         ``web``
    ``web``      2 or more                   ``web``
    ``web``      1, so ``web`` is the name   None
    ===========  ==========================  =========
    """
    if count == 1 and not pattern.endswith(f'-{NUMBER}'):
        return None
    return pattern.removesuffix(f'-{NUMBER}')


def first(name: str, taken: Iterable[str]) -> int:
    """Return the number that follows the numbers of hosts that are there.

    :param name: the beginning of the names
    :param taken: the names of the hosts that are there
    """
    # The API compares names whatever the letter case.
    begin = f'{name}-'.casefold()
    rests = [each.casefold().removeprefix(begin) for each in taken
             if each.casefold().startswith(begin)]
    return 1 + max((int(rest) for rest in rests
                    if rest.isdecimal() and len(rest) < 7), default=0)
