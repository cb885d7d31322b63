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

"""Names for several new hosts of a Pcloud."""

from collections.abc import Iterable
import itertools

# What stands for the number in a pattern.
NUMBER = '{n}'


def names(pattern: str, count: int, taken: Iterable[str]) -> list[str]:
    """Return names for new hosts.

    The first numbers from 1 whose names are free stand for ``{n}``. A pattern
    without ``{n}`` is the name of a single host; of several hosts the numbers
    follow the pattern.

    :param taken: the names of the hosts that are there
    """
    if NUMBER not in pattern:
        if count == 1:
            return [pattern]
        pattern += f'-{NUMBER}'
    # The API compares names whatever the letter case.
    known = {name.casefold() for name in taken}
    numbered = (pattern.replace(NUMBER, str(number))
                for number in itertools.count(1))
    return list(itertools.islice(
        (name for name in numbered if name.casefold() not in known), count))
