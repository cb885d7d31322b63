# SPDX-License-Identifier: Apache-2.0

"""The affinity algorithm: which host likes a server best, by placement keys.

A *resource* key has a name, a value and a weight, and states what a server
prefers; a *node* key has a name and a value, and states what a host has. The
nearness of the two values, times the weight, is what the host scores for the
key; the sum over the keys is the score of the host. All scores are computed
with fractions, so equal scores on paper are equal in the code: 0.1 + 0.2 is
0.3.

Rule: reference-placement-keys
"""

import bisect
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
from fractions import Fraction
import functools
import itertools
import math
import re

from pcloud import exception

RAM, CPU, LOAD = '#RAM', '#CPU', '#LOAD'
SPECIAL = frozenset({RAM, CPU, LOAD})
RESERVED_PREFIX = '_'

# The round of a score whose estimate is too close to a threshold.
UNCERTAIN = -1

# More than all roundings of an estimate, which are multiples of 2 ** -53.
_ERROR = 1e-12
_SPECIAL_PREFIX = '#'
# What people read in place of the names of the computed keys.
_WORDS = {RAM: 'RAM contention', CPU: 'CPU contention', LOAD: 'load'}
# Nova lets no "#" into names of metadata and extra specs.
_SPECIAL_ALIAS = 'special.'
_NAME = re.compile(r'[#_]?[A-Za-z0-9][A-Za-z0-9._-]{0,62}', re.ASCII)
_NUMBER = re.compile(r'[+-]?\d{1,15}(\.\d{1,15})?', re.ASCII)


@dataclasses.dataclass(frozen=True, slots=True)
class Key:
    """A placement key of a server, or of a level above the server.

    :ivar value: the value that the server would like a host to have
    :ivar weight: how much the key counts; negative to stay away; 0 for a
        normal key, which has no part in placements
    """

    name: str
    value: Fraction
    weight: Fraction

    def __str__(self) -> str:
        return f'{self.name}={plain(self.value)}:{plain(self.weight)}'


# Thousands of hosts and servers have a few values, and share them.
@functools.lru_cache(maxsize=4096)
def number(text: str) -> Fraction:
    """Read a decimal number exactly.

    :raises: `exception.InvalidValue`
    """
    if not _NUMBER.fullmatch(text):
        raise exception.InvalidValue(
            'Placement key', text, 'a number such as 1, -0.5 or 100')
    return Fraction(text)


def plain(value: Fraction) -> str:
    """Write a number that was read by `number`, exactly."""
    whole, rest = divmod(abs(value), 1)
    sign = '-' if value < 0 else ''
    if not rest:
        return f'{sign}{whole}'
    digits = ''
    while rest:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    return f'{sign}{whole}.{digits}'


def name(text: str) -> str:
    """Read the name of a key; ``special.RAM`` is another spelling of #RAM.

    :raises: `exception.InvalidValue`
    """
    key_name = text
    if text.startswith(_SPECIAL_ALIAS):
        key_name = _SPECIAL_PREFIX + text.removeprefix(_SPECIAL_ALIAS)
    if not _NAME.fullmatch(key_name) or (
            key_name.startswith(_SPECIAL_PREFIX) and key_name not in SPECIAL):
        raise exception.InvalidValue(
            'Placement key', text,
            'a name of 1 to 64 letters, digits, ".", "_" or "-", or '
            'special.RAM, special.CPU or special.LOAD')
    return key_name


def in_words(key_name: str) -> str:
    """Return the name of a key for people: words for a computed key.

    Rule: reference-placement-keys-special
    """
    return _WORDS.get(key_name, key_name)


def key(key_name: str, text: str) -> Key:
    """Read a key whose name is known, from ``VALUE:WEIGHT``.

    :raises: `exception.InvalidValue`

    Rule: reference-placement-keys-normal
    """
    value, colon, weight = text.partition(':')
    if not colon:
        raise exception.InvalidValue(
            'Placement key', f'{key_name}={text}', 'NAME=VALUE:WEIGHT')
    return Key(name(key_name), number(value), number(weight))


def parse(text: str) -> Key:
    """Read a key from ``NAME=VALUE:WEIGHT``.

    :raises: `exception.InvalidValue`
    """
    key_name, equals, rest = text.partition('=')
    if not equals:
        raise exception.InvalidValue(
            'Placement key', text, 'NAME=VALUE:WEIGHT')
    return key(key_name, rest)


def check_system(placement_key: Key) -> Key:
    """Refuse a reserved key, which cannot be a system key.

    :raises: `exception.InvalidValue`

    Rule: reference-placement-keys-kinds
    """
    if placement_key.name.startswith(RESERVED_PREFIX):
        raise exception.InvalidValue(
            'Placement key', placement_key,
            'a customer key: names that begin with "_" are compared with '
            'those alone')
    return placement_key


def check_customer(placement_key: Key) -> Key:
    """Refuse a special key, which only administrators may set.

    :raises: `exception.InvalidValue`

    Rule: reference-placement-keys-kinds
    """
    if placement_key.name in SPECIAL:
        raise exception.InvalidValue(
            'Placement key', placement_key,
            'a system key: #RAM, #CPU and #LOAD are for administrators')
    return placement_key


def distinct(
    texts: Iterable[str], check: Callable[[Key], Key],
) -> list[Key]:
    """Read several keys; names that differ only in letter case are the same.

    Some of Nova's databases ignore the letter case.

    :param check: `check_system` or `check_customer`
    :raises: `exception.InvalidValue`
    """
    keys: dict[str, Key] = {}
    for text in texts:
        placement_key = check(parse(text))
        if placement_key.name.casefold() in keys:
            raise exception.InvalidValue(
                'Placement key', text,
                'the only one of its name, whatever the letter case')
        keys[placement_key.name.casefold()] = placement_key
    return list(keys.values())


def compiled(levels: Iterable[Iterable[Key]]) -> dict[str, Key]:
    """Return ``name -> key``: for each name the key of the lowest level.

    Value and weight of a key come from the same level. Keys of weight 0 are
    left out, so that they neither count nor hide a key of a higher level.

    :param levels: from the highest, the cloud, to the lowest, the server

    Rule: reference-placement-keys-levels, reference-placement-keys-normal
    """
    return {placement_key.name: placement_key
            for level in levels for placement_key in level
            if placement_key.weight}


def score(
    wanted: Mapping[str, Key], offered: Iterable[tuple[str, Fraction]],
) -> Fraction:
    """Return how much a host is liked.

    For each key of both server and host, the score is the weight times the
    nearness of the two values: 1 less their difference, or 0 for a difference
    of 1 or more. A name offered several times counts several times.

    :param wanted: the compiled keys of the server
    :param offered: name and value of each key of the host

    Rule: reference-placement-keys-score
    """
    # There are very many hosts, and sums of fractions are slow: numerators
    # and denominators are computed apart.
    parts = []
    for name_, value in offered:
        if name_ not in wanted:
            continue
        target, weight = wanted[name_].value, wanted[name_].weight
        whole = target.denominator * value.denominator
        near = whole - abs(target.numerator * value.denominator -
                           value.numerator * target.denominator)
        if near > 0:
            parts.append((near * weight.numerator,
                          whole * weight.denominator))
    common = math.lcm(*(denominator for _, denominator in parts))
    return Fraction(sum(numerator * (common // denominator)
                        for numerator, denominator in parts), common)


def thresholds(
    initial: Fraction, final: Fraction, steps: int,
) -> list[Fraction]:
    """Return the thresholds of the rounds, evenly from first to last.

    :param steps: the number of rounds; a single round has the initial value

    Rule: reference-placement-keys-rounds
    """
    if steps == 1:
        return [initial]
    step = (final - initial) / (steps - 1)
    return [initial + number * step for number in range(steps)]


def round_of(
    host_score: Fraction, rounds: Sequence[Fraction],
) -> int | None:
    """Return the first round whose threshold a score exceeds.

    :param rounds: the thresholds, the highest first
    :returns: counted from 0; None when the score exceeds no threshold
    """
    return next((number for number, threshold in enumerate(rounds)
                 if host_score > threshold), None)


def share_scores(
    wanted: Mapping[str, Key], names: Iterable[str],
) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest score for values from 0 to 1.

    :param wanted: the compiled keys of the server
    :param names: names of keys that each host offers once, with such a value
    """
    least = most = Fraction(0)
    for name_ in names:
        target, weight = wanted[name_].value, wanted[name_].weight
        # The distance to the nearest value there is, and to the farthest.
        scores = [weight * max(Fraction(0), 1 - distance) for distance in (
            max(-target, target - 1, Fraction(0)),
            max(abs(target), abs(target - 1)))]
        least += min(scores)
        most += max(scores)
    return least, most


def estimated_rounds(
    host_scores: Sequence[float], error: float, rounds: Sequence[Fraction],
) -> list[int | None]:
    """Return `round_of` for estimates of scores, where the round is certain.

    :param error: scores differ by less than this from their estimates
    :param rounds: as for `round_of`
    :returns: `UNCERTAIN` for an estimate too close to a threshold
    """
    # Thresholds are estimates too.
    error += _ERROR * max(abs(float(threshold)) for threshold in rounds)
    order = sorted((float(threshold), number)
                   for number, threshold in enumerate(rounds))
    floors = [*(threshold for threshold, _ in order), math.inf]
    # The first round of a score that exceeds so many thresholds.
    firsts = [None, *itertools.accumulate(
        (number for _, number in order), min)]
    return [firsts[exceeded] if floors[exceeded := bisect.bisect_left(
        floors, score - error)] > score + error
        else UNCERTAIN for score in host_scores]


def estimated_scores(
    wanted: Mapping[str, Key], bases: Sequence[Fraction],
    kinds: Sequence[int], offered: Mapping[str, Sequence[float]],
) -> tuple[list[float], float]:
    """Estimate the scores of hosts of which every host has some keys.

    Exact scores of thousands of hosts that all differ take very long. An
    estimate, of floating point numbers, is far more precise than the distance
    of two scores that matters; `estimated_rounds` tells where that is not so.

    The error: a share, a nearness and a product have each a few roundings, of
    2 ** -53 of a number that is at most 1, or at most the weight; and so have
    the sums. A value of 2 and more is near to no share, estimated or not. All
    roundings together are far below `_ERROR` of the sum of the weights and the
    base.

    :param wanted: the compiled keys of the server
    :param bases: the score of each kind of host without `offered`
    :param kinds: the kind of each host
    :param offered: for each name the value of each host, a share from
        0 to 1, as from `estimated_share`
    :returns: the estimates, and a bound for their errors
    """
    scores = [*map([float(base) for base in bases].__getitem__, kinds)]
    most = max(map(abs, bases), default=Fraction(0))
    for name_, values in offered.items():
        target, weight = (float(wanted[name_].value),
                          float(wanted[name_].weight))
        most += abs(wanted[name_].weight)
        scores = [
            score_ + weight * near
            if (near := 1.0 - abs(target - value)) > 0 else score_
            for score_, value in zip(scores, values, strict=True)]
    return scores, _ERROR * float(most)


def ranks(
    standings: Sequence[tuple[tuple[int, ...], Fraction]],
) -> list[int]:
    """Return the rank of each host, from 0 for the worst.

    Hosts of an earlier round come before hosts of a later round, whatever
    their customer score; within a round the higher score comes first. Equal
    hosts have equal ranks, and no rank is left out.

    :param standings: for each host the round, after any numbers that count
        before rounds and are lower for hosts that come first; and the
        customer score

    Rule: reference-placement-keys-rounds
    """
    # Many hosts share one score, and fractions are slow to look up.
    scores = {id(score): score for _, score in standings}
    order = {score: place for place, score
             in enumerate(sorted(set(scores.values())))}
    places = {number: order[score] for number, score in scores.items()}
    worst_first = {numbers: place for place, numbers in enumerate(
        sorted({numbers for numbers, _ in standings}, reverse=True))}
    plain = [(worst_first[numbers], places[id(score)])
             for numbers, score in standings]
    rank_by_standing = {standing: rank for rank, standing
                        in enumerate(sorted(set(plain)))}
    return [rank_by_standing[standing] for standing in plain]


@functools.lru_cache(maxsize=4096)
def share(used: Fraction, total: Fraction) -> Fraction:
    """Return the used part of a resource, from 0 to 1.

    For the special keys: the allocated amount, divided by the amount there is
    times the allocation ratio. A resource of amount 0 is one that the host
    does not report, of which nothing is known to be used.

    Rule: reference-placement-keys-special
    """
    if total <= 0:
        return Fraction(0)
    return min(Fraction(1), max(Fraction(0), used / total))


def estimated_share(used: float, total: float) -> float:
    """Return `share` as a floating point number, from 0 to 1."""
    if total <= 0:
        return 0.0
    part = used / total
    return 0.0 if part < 0 else part if part < 1 else 1.0


def is_reserved(key_name: str) -> bool:
    """Whether a node's key is compared with customer keys.

    Rule: reference-placement-keys-kinds
    """
    return key_name.startswith(RESERVED_PREFIX)
