# SPDX-License-Identifier: Apache-2.0

"""Tables of reStructuredText."""

from collections.abc import Iterable
from collections.abc import Sequence


def listed(rows: Iterable[Sequence[str]]) -> str:
    """Return a ``list-table`` of rows, the first of which has the titles."""
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for first, *rest in rows:
        lines += [f'   * - {first}'.rstrip(),
                  *(f'     - {each}'.rstrip() for each in rest)]
    return '\n'.join(lines)
