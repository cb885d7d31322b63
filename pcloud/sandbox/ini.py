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

"""Change single options of an INI file, as devstack's functions do.

Run as a program: ``python -m pcloud.sandbox.ini FUNCTION FILE SECTION OPTION
[VALUE]...``. The functions have the names and the behaviour of devstack's
inc/ini-config; the rest of the file does not change.
"""

import pathlib
import re
import sys


class Ini:
    """An INI file, line by line; a missing file is empty."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.lines = (path.read_text().splitlines() if path.exists() else [])

    def save(self) -> None:
        """Write the file."""
        self.path.write_text('\n'.join(self.lines) + '\n')

    def values(self, section: str, option: str) -> list[str]:
        """Return the values of an option, one for each line."""
        return [self.lines[number].split('=', 1)[1].strip()
                for number in self._find(section, option)]

    def set(self, section: str, option: str, values: list[str]) -> None:
        """Replace an option's values by new values, a line each."""
        known = self._find(section, option)
        self.delete(section, option)
        if f'[{section}]' not in self.lines:
            self.lines += ['', f'[{section}]']
        begin = known[0] if known else self.lines.index(f'[{section}]') + 1
        self.lines[begin:begin] = [f'{option} = {value}' for value in values]

    def delete(self, section: str, option: str) -> None:
        """Delete all lines of an option."""
        for number in reversed(self._find(section, option)):
            del self.lines[number]

    def _find(self, section: str, option: str) -> list[int]:
        pattern = re.compile(rf'{re.escape(option)}[ \t]*=')
        numbers, inside = [], False
        for number, line in enumerate(self.lines):
            if line.startswith('['):
                inside = line.strip() == f'[{section}]'
            elif inside and pattern.match(line):
                numbers.append(number)
        return numbers


def main() -> None:
    """Run one of devstack's functions."""
    function, path, section, option, *values = sys.argv[1:]
    ini = Ini(pathlib.Path(path))
    known = ini.values(section, option)
    if function in ('iniget', 'iniget_multiline'):
        print(*(known[:1] if function == 'iniget' else known))
        return
    if function == 'inidelete':
        ini.delete(section, option)
    elif function == 'iniadd':
        ini.set(section, option, known + values)
    elif function in ('iniset', 'iniset_multiline'):
        ini.set(section, option, values)
    else:
        sys.exit(f'{function}: there is no such function')
    ini.save()


if __name__ == '__main__':
    main()
