# SPDX-License-Identifier: Apache-2.0

"""The wanted figures, and whether the measurements meet the figures."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import itertools

from pcloud.tests.benchmarks.filters import measuring
from pcloud.tests.benchmarks.filters import subjects

# Times and memory are judged in clouds of this size; in small clouds a few
# statements dominate the times.
HOSTS = 10_000

_TIMES_FASTER = 5
_OWN_WORK = 0.4
_ROUNDS_SECONDS = 0.05
_BYTES = 1024
# The most processor time of a filter as a multiple of that of the floor, and
# of a weigher as a multiple of that of Nova's `RAMWeigher`. A quarter and more
# is left for other machines.
_OF_FLOOR = {
    ('ConstraintsFilter', subjects.ORDINARY): 0.75,
    ('ConstraintsFilter', subjects.SIZES): 0.75,
    ('ConstraintsFilter', subjects.ATTRIBUTES): 0.95,
    ('AffinityFilter', subjects.COMPUTED_KEYS): 1.6,
    ('FreeMemoryFilter', subjects.ORDINARY): 0.75,
}
_OF_RAM_WEIGHER = {
    ('AffinityWeigher', subjects.CUSTOMER_KEYS): 0.85,
    ('LeastWasteWeigher', subjects.ORDINARY): 0.6,
    ('OwnerSpreadWeigher', subjects.ORDINARY): 0.6,
    ('OwnerSpreadWeigher', subjects.OWNER): 0.6,
    **{(name, asked): most
       for name in ('PlatformWeigher', 'RebootWeigher', 'HardwareClassWeigher')
       for asked, most in ((subjects.ORDINARY, 0.9),
                           (subjects.SWITCHED_OFF, 0.6),
                           (subjects.WITHOUT, 0.6))},
}

_Found = Mapping[tuple[str, str], measuring.Measured]


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure, with the wanted and the measured value."""

    what: str
    wanted: str
    got: str
    met: bool


def judge(measured: Sequence[measuring.Measured]) -> list[Figure]:
    """Return all figures of a benchmark."""
    found = list(_constant(measured))
    for (hosts, pclouds), each in clouds(measured).items():
        if hosts >= HOSTS:
            where = f'{hosts} hosts, {pclouds} Pclouds: '
            found += [dataclasses.replace(figure, what=where + figure.what)
                      for figure in (*_ratios(each), *_core_ratios(each),
                                     *_rounds(each), *_memory(each))]
    return found


def clouds(
    measured: Sequence[measuring.Measured],
) -> dict[tuple[int, int], dict[tuple[str, str], measuring.Measured]]:
    """Return (hosts, Pclouds) -> subject -> measurement."""
    found: dict = {}
    for each in measured:
        found.setdefault((each.hosts, each.pclouds), {})[each.subject] = each
    return found


def ratio(
    one: measuring.Measured, other: measuring.Measured,
) -> float:
    """Return the ratio of the times of two subjects.

    The fastest turn of each subject counts: other work of the machine only
    adds time.
    """
    return min(one.wall) / min(other.wall)


def _constant(
    measured: Sequence[measuring.Measured],
) -> Iterator[Figure]:
    """Yield figures: statements and calls are the same in each cloud."""
    by_subject: dict = {}
    for each in measured:
        by_subject.setdefault(each.subject, []).append(
            (each.counted.statements, each.counted.calls))
    for subject, counts in by_subject.items():
        statements, calls = zip(*counts, strict=True)
        yield Figure(
            f'{_told(subject)}: statements, HTTP calls',
            'the same in every cloud, no call',
            f'{_span(statements)}, {_span(calls)}',
            len(set(counts)) == 1 and not any(calls))


def _span(numbers: Sequence[int]) -> str:
    return '..'.join(map(str, sorted({min(numbers), max(numbers)})))


def _ratios(found: _Found) -> Iterator[Figure]:
    floor = found[subjects.FLOOR, subjects.ORDINARY]
    for asked in (subjects.ORDINARY, subjects.PCLOUD):
        ours = found[subjects.OURS, asked]
        yield _at_most(ours, floor, 1)
        yield _at_most(
            found[subjects.OURS, asked + subjects.READ], floor, _OWN_WORK)
        for peer in (subjects.TENANCY, subjects.BLAZAR):
            if (peer, asked) in found:
                yield _faster(ours, found[peer, asked])
            else:
                yield Figure(f'{_told((peer, asked))}', 'measured',
                             'not installed', False)


def _at_most(
    one: measuring.Measured, floor: measuring.Measured, limit: float,
) -> Figure:
    got = ratio(one, floor)
    return Figure(f'{_told(one.subject)}: time, of {subjects.FLOOR}',
                  f'at most {limit}', f'{got:.2f}', got <= limit)


def _faster(
    one: measuring.Measured, peer: measuring.Measured,
) -> Figure:
    got = ratio(peer, one)
    return Figure(
        f'{_told(one.subject)}: times faster than {peer.subject[0]}',
        f'at least {_TIMES_FASTER}', f'{got:.1f}', got >= _TIMES_FASTER)


def _core_ratios(found: _Found) -> Iterator[Figure]:
    """Yield figures: the processor times beside those of Nova."""
    for peer, limits in ((subjects.FLOOR, _OF_FLOOR),
                         (subjects.RAM, _OF_RAM_WEIGHER)):
        floor = min(found[peer, subjects.ORDINARY].cpu)
        for subject, most in limits.items():
            got = min(found[subject].cpu) / floor
            yield Figure(f'{_told(subject)}: processor time, of {peer}',
                         f'at most {most}', f'{got:.2f}', got <= most)


def _rounds(found: _Found) -> Iterator[Figure]:
    subject = 'AffinityFilter', subjects.SYSTEM_KEYS
    got = min(found[subject].cpu)
    yield Figure(f'{_told(subject)}: time of one core',
                 f'at most {_ROUNDS_SECONDS * 1000:.0f} ms',
                 f'{got * 1000:.1f} ms', got <= _ROUNDS_SECONDS)


def _memory(found: _Found) -> Iterator[Figure]:
    for (subject, each), (what, size) in itertools.product(
            found.items(), (('kept', 'grown'), ('at its peak', 'peak'))):
        got = getattr(each, size) / each.hosts
        yield Figure(f'{_told(subject)}: memory {what}, a host',
                     f'under {_BYTES} B', f'{got:.0f} B', got < _BYTES)


def _told(subject: tuple[str, str]) -> str:
    return f'{subject[0]} ({subject[1]})'
