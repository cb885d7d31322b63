# SPDX-License-Identifier: Apache-2.0

"""Change single options of an INI file, as devstack's functions do.

Run as a program: ``python ini.py FUNCTION FILE SECTION OPTION [VALUE]``. The
functions have the names and the behaviour of devstack's inc/ini-config; the
rest of the file does not change.
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
        self.path.write_text(''.join(f'{line}\n' for line in self.lines))

    def values(self, section: str, option: str) -> list[str]:
        """Return the values of an option, one for each line."""
        return [self.lines[number].split('=', 1)[1].strip()
                for number in self._find(section, option)]

    def set(self, section: str, option: str, value: str) -> None:
        """Replace the value on every line of an option, or add a line."""
        if f'[{section}]' not in self.lines:
            self.lines += ['', f'[{section}]']
        known = self._find(section, option)
        if not known:
            self.add(section, option, value)
        for number in known:
            before = re.match(r'.*?=[ \t]*', self.lines[number])
            self.lines[number] = f'{before.group() if before else ""}{value}'

    def add(self, section: str, option: str, value: str) -> None:
        """Add a line to a section, as the first line of the section."""
        for number, line in enumerate(self.lines):
            if line == f'[{section}]':
                self.lines.insert(number + 1, f'{option} = {value}')
                return

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
    if function == 'iniget_multiline':
        print(*ini.values(section, option))
        return
    if function == 'inidelete':
        ini.delete(section, option)
    elif function == 'iniadd_literal':
        ini.add(section, option, *values)
    elif function == 'iniset':
        ini.set(section, option, *values)
    else:
        sys.exit(f'{function}: there is no such function')
    ini.save()


if __name__ == '__main__':
    main()
