# SPDX-License-Identifier: Apache-2.0

"""The rows of measured filters and weighers, and what is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping

from pcloud.tests.benchmarks.filters import cloud as clouds
from pcloud.tests.benchmarks.filters import measuring
from pcloud.tests.benchmarks.filters import subjects
from pcloud.tests.benchmarks import results

# Subject -> measurement, in a cloud; numbers of hosts and Pclouds of a cloud.
Found = Mapping[tuple[str, str], measuring.Measured]
Size = tuple[int, int]

_TABLE = 'Filters and weighers'
_TIMES_FASTER, _OWN_WORK, _BYTES = 5, 0.4, 1024
# With its reads: for most hosts of a large cloud, and for as many candidates
# as Placement returns (5 ms where Nova's filter takes 1.8).
_MOST, _CANDIDATES, _OF_CANDIDATES = 0.7, 1000, 2.7
_NO_MORE = 'to read which hosts are closed costs little beside the filters'
_OWN = 'the rest is the database'
_PEERS = 'filters that look at each host alone are the alternative'
_SPEED = 'a request takes no longer where operators enable everything'
# What is dearer than Nova's own filter or weigher, because it reads rows.
_READS = {('AffinityWeigher', subjects.CUSTOMER_KEYS):
          'the servers of all hosts are read, which customer keys are about'}
_SPACE = 'schedulers need no more memory than without Pcloud'
_MEANT = 'what is meant is measured'
# The most processor time of a filter as a multiple of that of the floor, and
# of a weigher as a multiple of that of Nova's `RAMWeigher`. A quarter and more
# is left for other machines.
_OF_FLOOR = {
    ('ConstraintsFilter', subjects.ORDINARY): 0.75,
    ('ConstraintsFilter', subjects.SIZES): 0.75,
    ('ConstraintsFilter', subjects.ATTRIBUTES): 0.95,
    ('AffinityFilter', subjects.SYSTEM_KEYS): 2,
    ('AffinityFilter', subjects.COMPUTED_KEYS): 1.6,
    ('FreeMemoryFilter', subjects.ORDINARY): 0.75,
}
_OF_RAM_WEIGHER = {
    ('AffinityWeigher', subjects.CUSTOMER_KEYS): 3,
    ('LeastWasteWeigher', subjects.ORDINARY): 0.6,
    ('OwnerSpreadWeigher', subjects.ORDINARY): 0.6,
    ('OwnerSpreadWeigher', subjects.OWNER): 0.6,
    **{(name, asked): most
       for name in ('PlatformWeigher', 'RebootWeigher', 'HardwareClassWeigher')
       for asked, most in ((subjects.ORDINARY, 0.9),
                           (subjects.SWITCHED_OFF, 0.6),
                           (subjects.WITHOUT, 0.6))},
}


def passing(cloud: clouds.Cloud, found: Found) -> Iterator[results.Row]:
    """Yield how many hosts `PcloudFilter` passes."""
    closed = sum(map(len, cloud.pools))
    for asked, hosts in (
            (subjects.ORDINARY, len(cloud.hosts) - closed),
            (subjects.PCLOUD, len(cloud.pclouds[0].hosts))):
        yield results.Row(
            _TABLE, f'{_told((subjects.OURS, asked))}, '
            f'{_size((len(cloud.hosts), len(cloud.pclouds)))}',
            'hosts that pass', found[subjects.OURS, asked].kept, hosts, hosts,
            _MEANT)


def shown(found: Mapping[Size, Found]) -> Iterator[results.Row]:
    """Yield all measurements.

    :param found: measurements by size of the cloud, the largest cloud last
    """
    largest = list(found.values())[-1]
    floor = largest[subjects.FLOOR, subjects.ORDINARY]
    for subject, last in largest.items():
        name = _told(subject)
        for size, each in found.items():
            yield results.Row(_TABLE, name, f'ms, {_size(size)}',
                              1000 * min(each[subject].wall))
        for unit, value in (
                (f'{results.TIMES}{subjects.FLOOR}', _ratio(last, floor)),
                ('ms of this process', 1000 * min(last.cpu)),
                ('SQL', last.counted.statements),
                ('bytes kept a host', round(last.grown / last.hosts)),
                ('bytes a host, peak', round(last.peak / last.hosts))):
            yield results.Row(_TABLE, name, unit, value)


def judged(found: Mapping[Size, Found]) -> Iterator[results.Row]:
    """Yield what is wanted in all clouds, and in the largest clouds."""
    yield from _constant(found)
    most, _ = max(found)
    for size, each in found.items():
        if size[0] == _CANDIDATES:
            yield _with_reads(each, subjects.ORDINARY, _size(size),
                              _OF_CANDIDATES)
        if size[0] == most:
            yield from _pcloud_filter(each, _size(size))
            yield from _beside_nova(each, _size(size))
            yield from _memory(each, _size(size))


def _constant(found: Mapping[Size, Found]) -> Iterator[results.Row]:
    """Yield figures: statements and requests are the same in each cloud."""
    counts: dict[tuple[str, str], set[int]] = {}
    calls = 0
    for each in found.values():
        for subject, measured in each.items():
            counts.setdefault(subject, set()).add(measured.counted.statements)
            calls += measured.counted.calls
    differing = [_told(subject) for subject, each in counts.items()
                 if len(each) > 1]
    yield results.Row(
        _TABLE, '; '.join(differing) or 'all filters and weighers',
        'whose statements differ between clouds', len(differing), 0,
        why='no statement is sent for each host or Pcloud')
    yield results.Row(
        _TABLE, 'all filters and weighers', 'HTTP requests', calls, 0,
        why='Placement is asked before hosts are filtered')


def _pcloud_filter(found: Found, where: str) -> Iterator[results.Row]:
    floor = found[subjects.FLOOR, subjects.ORDINARY]
    for asked in (subjects.ORDINARY, subjects.PCLOUD):
        ours = found[subjects.OURS, asked]
        yield _with_reads(found, asked, where, _MOST)
        handed = found[subjects.OURS, asked + subjects.READ]
        yield results.Row(
            _TABLE, f'{_told(handed.subject)}, {where}',
            f'{results.TIMES}{subjects.FLOOR}', _ratio(handed, floor),
            _OWN_WORK, why=_OWN)
        for peer in (subjects.TENANCY, subjects.BLAZAR):
            yield results.Row(
                _TABLE, f'{_told((peer, asked))}, {where}',
                f'{results.TIMES}{subjects.OURS}',
                _ratio(found[peer, asked], ours)
                if (peer, asked) in found else None,
                least=_TIMES_FASTER, why=_PEERS)


def _with_reads(
    found: Found, asked: str, where: str, most: float,
) -> results.Row:
    ours = found[subjects.OURS, asked]
    return results.Row(
        _TABLE, f'{_told(ours.subject)}, {where}',
        f'{results.TIMES}{subjects.FLOOR}',
        _ratio(ours, found[subjects.FLOOR, subjects.ORDINARY]), most,
        why=_NO_MORE)


def _beside_nova(found: Found, where: str) -> Iterator[results.Row]:
    """Yield processor times beside those of Nova."""
    for peer, limits in ((subjects.FLOOR, _OF_FLOOR),
                         (subjects.RAM, _OF_RAM_WEIGHER)):
        floor = min(found[peer, subjects.ORDINARY].cpu)
        for subject, most in limits.items():
            yield results.Row(
                _TABLE, f'{_told(subject)}, {where}',
                f'{results.TIMES}{peer}, processor time',
                min(found[subject].cpu) / floor, most,
                why=_READS.get(subject, _SPEED))


def _memory(found: Found, where: str) -> Iterator[results.Row]:
    for unit, name in (('bytes kept a host', 'grown'),
                       ('bytes a host, peak', 'peak')):
        most = max(found.values(), key=lambda each: getattr(each, name))
        yield results.Row(
            _TABLE, f'the most: {_told(most.subject)}, {where}', unit,
            round(getattr(most, name) / most.hosts), _BYTES, why=_SPACE)


def _ratio(one: measuring.Measured, other: measuring.Measured) -> float:
    """Return the ratio of the times of two subjects.

    The fastest turn of each subject counts: other work of the machine only
    adds time.
    """
    return min(one.wall) / min(other.wall)


def _told(subject: tuple[str, str]) -> str:
    return ', '.join(subject)


def _size(size: Size) -> str:
    return f'{size[0]:,} hosts, {size[1]:,} Pclouds'
