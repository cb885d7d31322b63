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

"""Explanations of requests, formatted as text or as JSON."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import TypeAlias

import prettytable

from pcloud.explain import filtering
from pcloud.explain import schedule
from pcloud.explain import weighing
from pcloud.rules import hints as hint_rules
from pcloud.rules import reasons

# How many of the best hosts are shown.
_BEST = 10
_NOT_TOLD = 'it does not tell why'
_EXCLUDED = reasons.open_to_all(
    'the request leaves it out, or Nova has no compute service of it')

# Pairs of service host and reason.
Fallen: TypeAlias = Sequence[tuple[str, reasons.Reason | None]]
Style: TypeAlias = Callable[[Fallen], Iterator[str]]


def text(found: schedule.Explanation, fallen: Style) -> str:
    """Return an explanation as text for people.

    :param fallen: `counted` or `named`: the style for dropped hosts
    """
    parts = [[outcome(found)], _request(found), _request_filters(found),
             _candidates(found, fallen), _filters(found, fallen),
             _weighers(found), _missing(found)]
    return '\n\n'.join('\n'.join(lines) for lines in map(list, parts)
                       if lines)


def outcome(found: schedule.Explanation) -> str:
    """Return the outcome of a request in a single sentence."""
    best = found.best
    if len(best) == 1:
        return f'A server would be started on {best[0].host_state.host}.'
    if best:
        shown = ', '.join(each.host_state.host for each in best[:_BEST])
        more = ' and others' if len(best) > _BEST else ''
        return (f'A server would be started on one of {len(best)} hosts, and '
                f'chance decides on which: {shown}{more}.')
    return f'No host: {_why_none(found)}'


def _why_none(found: schedule.Explanation) -> str:
    if found.refusals:
        first = found.refusals[0]
        return f'request filter {first.rule} refuses: {first.reason}'
    if found.no_such_host is not None:
        return found.no_such_host
    if not found.candidates:
        return ('Placement has no candidate that the request lets in, because '
                + _most(_left_out(found)))
    for each in found.steps:
        if each.asked and not each.outcome.kept:
            refusal = each.outcome.refusal
            return (f'after filter {each.outcome.rule} none is left, because '
                    + (refusal.text if refusal else
                       _most(_dropped(each.outcome))))
    return 'filters let no allocation candidate of any host through.'


def _most(fallen: Fallen) -> str:
    """Return all reasons in a single sentence, the most frequent first."""
    return '; '.join(f'{why} ({_hosts(len(hosts))})'
                     for why, hosts in _by_reason(fallen).items()) + '.'


def _hosts(number: int) -> str:
    return '1 host' if number == 1 else f'{number} hosts'


def _request(found: schedule.Explanation) -> Iterator[str]:
    yield 'Request'
    for name, value in _asked(found).items():
        if value:
            yield f'  {name}: {value}'


def _asked(found: schedule.Explanation) -> dict[str, object]:
    spec = found.spec
    hints = spec.scheduler_hints if 'scheduler_hints' in spec else None
    return {
        'flavor': spec.flavor.name,
        'project': spec.project_id,
        'availability zone': spec.availability_zone,
        'hints': ' '.join(
            f'{name}={value}' for name, values in (hints or {}).items()
            for value in values
            if not hint_rules.is_record(name)),
        'forced to': ' '.join(spec.force_hosts or spec.force_nodes or ()),
    }


def _request_filters(found: schedule.Explanation) -> Iterator[str]:
    if found.refusals:
        yield 'Request filters'
        for each in found.refusals:
            yield f'  {each.rule}: {each.reason}'
        yield '  What follows is told as if they had not refused.'


def _candidates(found: schedule.Explanation, fallen: Style) -> Iterator[str]:
    if found.no_such_host is not None:
        return
    yield (f'Placement: {found.nodes} compute nodes -> '
           f'{found.candidates}')
    yield from fallen(_left_out(found))


def _left_out(found: schedule.Explanation) -> Fallen:
    return [*((each.host, each.reason) for each in found.left_out),
            *((each, _EXCLUDED) for each in found.excluded)]


def _dropped(made: filtering.Outcome) -> Fallen:
    return [(each.host_state.host, each.reason) for each in made.dropped]


def counted(fallen: Fallen) -> Iterator[str]:
    """Yield the number of dropped hosts for each reason."""
    for why, hosts in _by_reason(fallen).items():
        yield f'    {_hosts(len(hosts))}: {why}'


def named(fallen: Fallen) -> Iterator[str]:
    """Yield the number and the names of dropped hosts for each reason."""
    for why, hosts in _by_reason(fallen).items():
        yield f'    {_hosts(len(hosts))}: {why}'
        for host, reason in hosts:
            detail = f': {reason.detail}' if reason and reason.detail else ''
            yield f'        {host}{detail}'


def _by_reason(fallen: Fallen) -> dict[str, Fallen]:
    """Return reason -> dropped hosts, the most frequent reason first."""
    found: dict[str, list] = {}
    for host, reason in fallen:
        found.setdefault(reason.text if reason else _NOT_TOLD, []).append(
            (host, reason))
    return dict(sorted(found.items(), key=lambda each: -len(each[1])))


def _filters(found: schedule.Explanation, fallen: Style) -> Iterator[str]:
    if found.is_forced:
        yield 'Filters: none is asked, for the request is forced to a host'
    elif found.steps:
        yield 'Filters'
    width = max((len(each.outcome.rule) for each in found.steps), default=0)
    for each in found.steps:
        yield (f'  {each.outcome.rule:{width}}  {each.asked} -> '
               f'{len(each.outcome.kept)}  (alone it would keep {each.alone} '
               f'of {found.candidates})')
        yield from fallen(_dropped(each.outcome))
    silent = _not_explained(found)
    if silent:
        yield f'  Not explained: {", ".join(silent)}'


def _not_explained(found: schedule.Explanation) -> list[str]:
    """Return the filters that drop hosts and give no reasons."""
    return [each.outcome.rule for each in found.steps
            if not each.is_explained and each.alone < found.candidates]


def _weighers(found: schedule.Explanation) -> Iterator[str]:
    if len(found.weighed) < 2:
        return
    yield (f'Weighers: the best {min(_BEST, len(found.weighed))} of '
           f'{len(found.weighed)} hosts')
    equal = _equal(found.weighed)
    table = prettytable.PrettyTable(
        ['Host', 'Weigher', 'Raw', 'Normalised', 'Multiplier', 'Weight'])
    table.align = 'r'
    table.align['Host'] = table.align['Weigher'] = 'l'
    for each in found.weighed[:_BEST]:
        rows = [score for score in each.scores if score.weigher not in equal]
        table.add_row([each.host_state.host, 'all together', '', '', '',
                       f'{each.total:g}'], divider=not rows)
        for score in rows:
            table.add_row(
                ['', score.weigher, f'{score.raw:g}',
                 f'{score.normalised:.4g}', f'{score.multiplier:g}',
                 f'{score.weight:.4g}'], divider=score is rows[-1])
    yield table.get_string()
    if equal:
        yield f'  The same for all hosts: {", ".join(equal)}'


def _equal(weighed: Sequence[weighing.Weighed]) -> list[str]:
    """Return the weighers that give the same weight to all hosts."""
    columns = zip(*(each.scores for each in weighed), strict=True)
    return [column[0].weigher for column in columns
            if len({score.weight for score in column}) == 1]


def _missing(found: schedule.Explanation) -> Iterator[str]:
    if found.missing:
        yield ('Not asked, because they are not on this machine; what they '
               'say may change all of it')
        for name, why in found.missing.items():
            yield f'  {name}: {why}'


def document(found: schedule.Explanation) -> dict:
    """Return an explanation for programs, with all dropped hosts."""
    return {
        'outcome': {
            'found': bool(found.best), 'text': outcome(found),
            'hosts': [each.host_state.host for each in found.best]},
        'request': _asked(found),
        'request_filters': [{'rule': each.rule, 'reason': each.reason}
                            for each in found.refusals],
        'no_such_host': found.no_such_host,
        'placement': {'before': found.nodes, 'after': found.candidates,
                      **_told(_left_out(found))},
        'is_forced': found.is_forced,
        'filters': [{
            'rule': each.outcome.rule, 'before': each.asked,
            'after': len(each.outcome.kept), 'alone': each.alone,
            'explained': each.is_explained,
            'refusal': each.outcome.refusal and each.outcome.refusal.text,
            **_told(_dropped(each.outcome))} for each in found.steps],
        'weighed': [_weighed(each) for each in found.weighed[:_BEST]],
        'not_explained': _not_explained(found),
        'not_loaded': dict(found.missing),
    }


def _told(fallen: Fallen) -> dict:
    return {
        'reasons': [{'reason': why, 'hosts': len(hosts)}
                    for why, hosts in _by_reason(fallen).items()],
        'dropped': [{'host': host, 'reason': reason and reason.text,
                     'detail': reason and reason.detail}
                    for host, reason in fallen]}


def _weighed(each: weighing.Weighed) -> dict:
    return {
        'host': each.host_state.host, 'total': each.total,
        'scores': [
            {'weigher': score.weigher, 'raw': score.raw,
             'normalised': score.normalised, 'multiplier': score.multiplier,
             'weight': score.weight} for score in each.scores]}
