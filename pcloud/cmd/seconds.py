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

"""Numbers of seconds on a command line."""

import argparse

_DAY = 86400
_MINUTE = 60


def pause(text: str) -> float:
    """Return a number of seconds, which may be 0.

    :raises argparse.ArgumentTypeError: for any other text
    """
    seconds = _number(text)
    if not 0 <= seconds <= _DAY:
        raise _wrong(text, f'from 0 to {_DAY}')
    return seconds


def interval(text: str) -> float:
    """Return a positive number of seconds, a minute at most.

    :raises argparse.ArgumentTypeError: for any other text
    """
    seconds = _number(text)
    if not 0 < seconds <= _MINUTE:
        raise _wrong(text, f'more than 0 and at most {_MINUTE}')
    return seconds


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float('nan')


def _wrong(text: str, expected: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(
        f"'{text}' is not right; it has to be a number of seconds, {expected}")
