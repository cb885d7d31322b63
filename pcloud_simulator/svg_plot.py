# SPDX-License-Identifier: Apache-2.0

"""The outcomes of policies as a picture in SVG.

The first row of the picture has a plot for each policy: the servers on each
platform over time, one platform above the other. The second row compares the
policies: servers hit by reboots, refused launches, and fragmentation.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import html
import math

from pcloud_simulator import replay

# From old to new; hosts without a platform are gray.
_NO_PLATFORM = '#999999'
_COLORS = ((165, 15, 21), (253, 174, 97), (69, 117, 180))
# A colour and a dash for each policy: colours alone are not for all eyes.
_LINES = (('#222222', ''), ('#1f77b4', '8 3'), ('#d62728', '2 3'),
          ('#2ca02c', '10 3 2 3'), ('#9467bd', '5 5'), ('#8c564b', '1 4'))

_WIDTH, _HEIGHT = 260, 170
_LEFT, _TOP, _GAP = 60, 56, 70
_LEGEND = 18
_TICKS = 4


@dataclasses.dataclass(frozen=True)
class _Frame:
    """A plot in the picture.

    :ivar x: of the lower left corner, as is `y`
    :ivar days: the end of the axis of time
    :ivar most: the end of the axis of values
    """

    x: float
    y: float
    days: float
    most: float

    def point(self, day: float, value: float) -> str:
        return (f'{self.x + _WIDTH * day / self.days:.1f},'
                f'{self.y - _HEIGHT * value / self.most:.1f}')

    def axes(self, title: str) -> Iterator[str]:
        """Yield the title, the two axes and their numbers."""
        yield (f'<text x="{self.x}" y="{self.y - _HEIGHT - 12}" '
               f'font-weight="bold">{html.escape(title)}</text>')
        yield (f'<path d="M{self.point(0, self.most)} L{self.point(0, 0)} '
               f'L{self.point(self.days, 0)}" fill="none" stroke="black"/>')
        for number in range(_TICKS + 1):
            value = self.most * number / _TICKS
            day = self.days * number / _TICKS
            x = self.x + _WIDTH * number / _TICKS
            y = self.y - _HEIGHT * number / _TICKS
            yield (f'<text x="{self.x - 6}" y="{y + 4:.1f}" '
                   f'text-anchor="end">{_shown(value)}</text>')
            yield (f'<text x="{x:.1f}" y="{self.y + 16}" '
                   f'text-anchor="middle">{_shown(day)}</text>')
        yield (f'<text x="{self.x + _WIDTH / 2:.1f}" y="{self.y + 32}" '
               'text-anchor="middle">day</text>')


def _shown(value: float) -> str:
    return f'{value:.3g}' if abs(value) < 1000 else f'{round(value):,}'


def _end(value: float) -> float:
    """Return a round number that is not below a value."""
    if value <= 0:
        return 1
    step = 10 ** math.floor(math.log10(value))
    return next(factor * step for factor in (1, 2, 4, 6, 8, 10)
                if factor * step >= value)


def draw(
    outcomes: Sequence[replay.Outcome], platforms: Sequence[str],
) -> str:
    """Return a picture of the outcomes of policies.

    :param outcomes: at least one; all of the same trace
    :param platforms: from old to new
    """
    days = outcomes[0].last.day or 1.0
    columns = max(len(outcomes), 3)
    width = columns * (_WIDTH + _GAP) + _LEFT
    layers: list[str | None] = [*platforms]
    if any(look.by_platform.get(None)
           for outcome in outcomes for look in outcome.looks):
        layers.insert(0, None)
    second = 2 * _TOP + 2 * _HEIGHT + len(layers) * _LEGEND + 50
    height = second + 50 + len(outcomes) * _LEGEND
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        *_platform_plots(outcomes, layers, days),
        *_comparisons(outcomes, days, second), '</svg>']
    return '\n'.join(parts) + '\n'


def _platform_plots(
    outcomes: Sequence[replay.Outcome], layers: Sequence[str | None],
    days: float,
) -> Iterator[str]:
    most = _end(max(
        look.servers for outcome in outcomes for look in outcome.looks))
    y = _TOP + _HEIGHT
    for number, outcome in enumerate(outcomes):
        frame = _Frame(_LEFT + number * (_WIDTH + _GAP), y, days, most)
        yield from _layers(frame, outcome, layers)
        yield from frame.axes(f'{outcome.policy}: servers on each platform')
    for number, platform in enumerate(reversed(layers)):
        yield from _entry(
            y + 50 + number * _LEGEND, platform or 'no platform',
            f'<rect x="{_LEFT}" y="{y + 41 + number * _LEGEND}" width="24" '
            f'height="10" fill="{_color(platform, layers)}"/>')


def _layers(
    frame: _Frame, outcome: replay.Outcome, layers: Sequence[str | None],
) -> Iterator[str]:
    below = [0] * len(outcome.looks)
    for platform in layers:
        above = [low + look.by_platform.get(platform, 0)
                 for low, look in zip(below, outcome.looks, strict=True)]
        if above != below:
            points = [frame.point(look.day, value) for look, value in zip(
                outcome.looks, above, strict=True)]
            points += reversed([
                frame.point(look.day, value) for look, value in zip(
                    outcome.looks, below, strict=True)])
            yield (f'<polygon points="{" ".join(points)}" '
                   f'fill="{_color(platform, layers)}"/>')
        below = above


def _color(platform: str | None, layers: Sequence[str | None]) -> str:
    """Return the colour of a platform, by its place from old to new."""
    if platform is None:
        return _NO_PLATFORM
    known = [each for each in layers if each is not None]
    place = (len(_COLORS) - 1) * known.index(platform) / max(
        len(known) - 1, 1)
    lower = min(int(place), len(_COLORS) - 2)
    return '#' + ''.join(
        f'{round(low + (place - lower) * (high - low)):02x}'
        for low, high in zip(_COLORS[lower], _COLORS[lower + 1], strict=True))


def _comparisons(
    outcomes: Sequence[replay.Outcome], days: float, y: float,
) -> Iterator[str]:
    kinds: tuple[tuple[str, Callable[[replay.Look], float]], ...] = (
        ('Servers hit by reboots', lambda look: look.servers_hit),
        ('Refused launches', lambda look: look.refused),
        ('Fragmentation, %', lambda look: 100 * look.fragmentation))
    for number, (title, value) in enumerate(kinds):
        most = _end(max(
            value(look) for outcome in outcomes for look in outcome.looks))
        frame = _Frame(_LEFT + number * (_WIDTH + _GAP), y, days, most)
        for outcome, (color, dash) in zip(outcomes, _lines(outcomes),
                                          strict=True):
            points = ' '.join(frame.point(look.day, value(look))
                              for look in outcome.looks)
            yield (f'<polyline points="{points}" fill="none" '
                   f'stroke="{color}" stroke-width="2" '
                   f'stroke-dasharray="{dash}"/>')
        yield from frame.axes(title)
    for number, (outcome, (color, dash)) in enumerate(zip(
            outcomes, _lines(outcomes), strict=True)):
        line = y + 46 + number * _LEGEND
        yield from _entry(
            line + 4, outcome.policy,
            f'<path d="M{_LEFT},{line} h24" stroke="{color}" '
            f'stroke-width="2" stroke-dasharray="{dash}"/>')


def _lines(outcomes: Sequence[object]) -> list[tuple[str, str]]:
    return [_LINES[number % len(_LINES)] for number in range(len(outcomes))]


def _entry(y: float, name: str, mark: str) -> Iterator[str]:
    yield mark
    yield f'<text x="{_LEFT + 32}" y="{y}">{html.escape(name)}</text>'
