# SPDX-License-Identifier: Apache-2.0


"""Boxes of text, side by side."""

from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import itertools
import textwrap

# Columns inside a box, and of a box with its border and the gap.
_INSIDE = 20
_WIDE = _INSIDE + 6
_BOXES_A_ROW = 3


@dataclasses.dataclass(frozen=True)
class Box:
    """A titled box.

    :ivar title: stands above the box
    :ivar items: stand in the box, an item below the other
    """

    title: str
    items: Sequence[str]


def drawn(boxes: Iterable[Box]) -> list[str]:
    """Return the lines of a picture that is at most 80 columns wide."""
    lines: list[str] = []
    left = list(boxes)
    while left:
        lines += _row(left[:_BOXES_A_ROW])
        left = left[_BOXES_A_ROW:]
    return lines


def _row(boxes: Sequence[Box]) -> list[str]:
    titles = [textwrap.wrap(box.title, _INSIDE + 4) for box in boxes]
    height = max(map(len, titles))
    columns = [[''] * (height - len(title)) + title + _frame(box.items)
               for title, box in zip(titles, boxes)]
    return [''.join(cell.ljust(_WIDE) for cell in line).rstrip()
            for line in itertools.zip_longest(*columns, fillvalue='')]


def _frame(items: Iterable[str]) -> list[str]:
    border = f'+{"-" * (_INSIDE + 2)}+'
    text = [line for item in items for line in textwrap.wrap(
        item, _INSIDE, subsequent_indent='  ', break_on_hyphens=False)]
    return [border, *(f'| {line:{_INSIDE}} |' for line in text), border]
