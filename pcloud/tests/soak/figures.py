# SPDX-License-Identifier: Apache-2.0

"""The figures that all threads of a run count."""

import collections
import sys
import threading

EXAMPLES = 3


class Figures:
    """Counts of events, and of violations.

    :ivar counts: event -> number of occurrences
    :ivar longest: kind of call -> seconds of the longest call
    :ivar violations: kind of violation -> texts of the first examples
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: set[tuple[str, str]] = set()
        self.counts: collections.Counter[str] = collections.Counter()
        self.longest: dict[str, float] = {}
        self.violations: dict[str, list[str]] = {}

    def count(self, what: str, number: int = 1) -> None:
        """Count an event that may happen."""
        with self._lock:
            self.counts[what] += number

    def call(self, kind: str, code: int | None, seconds: float) -> None:
        """Count a call.

        :param code: the status code; None when no answer came
        """
        self.count(f'{kind} -> {code or "no answer"}')
        with self._lock:
            self.longest[kind] = max(self.longest.get(kind, 0), seconds)

    def violation(self, kind: str, subject: str, text: str) -> None:
        """Count a violation, once for each subject, and print it."""
        with self._lock:
            if (kind, subject) in self._seen:
                return
            self._seen.add((kind, subject))
            self.counts[f'violation: {kind}'] += 1
            examples = self.violations.setdefault(kind, [])
            if len(examples) < EXAMPLES:
                examples.append(f'{subject}: {text}')
        print(f'{kind}: {subject}: {text}', file=sys.stderr, flush=True)

    def broken(self) -> int:
        """Return the number of violations."""
        with self._lock:
            return sum(number for what, number in self.counts.items()
                       if what.startswith('violation: '))

    def allocations(self) -> int:
        """Return the number of acknowledged allocations of hosts."""
        with self._lock:
            return sum(number for what, number in self.counts.items()
                       if what.startswith('POST host') and
                       what.endswith(' -> 201'))

    def calls(self) -> int:
        """Return the number of calls."""
        with self._lock:
            return sum(number for what, number in self.counts.items()
                       if ' -> ' in what)

    def table(self) -> str:
        """Return all figures, a line each."""
        lines = [f'{self.calls():>9}  calls',
                 f'{self.allocations():>9}  allocations acknowledged', '']
        lines += [f'{number:>9}  {what}'
                  for what, number in sorted(self.counts.items())]
        lines += ['', 'longest calls, in seconds:']
        lines += [f'{seconds:>9.1f}  {kind}'
                  for kind, seconds in sorted(self.longest.items())]
        for kind, examples in sorted(self.violations.items()):
            lines += ['', f'{kind}: {self.counts[f"violation: {kind}"]}']
            lines += [f'    {example}' for example in examples]
        return '\n'.join(lines)
