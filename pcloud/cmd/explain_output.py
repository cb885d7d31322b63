# SPDX-License-Identifier: Apache-2.0

"""Explanations of requests, formatted as text or as JSON."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import TypeAlias

import prettytable

from pcloud.explain import filtering
from pcloud.explain import schedule
from pcloud.explain import weighing
from pcloud.rules.placing import hints as hint_rules
from pcloud.rules.placing import reasons
from pcloud import text as text_rules

# How many of the best hosts are shown.
_BEST = 10
_NOT_TOLD = 'it gives no reason'
_EXCLUDED = reasons.open_to_all(
    'the request leaves it out, or Nova has no compute service of it')

# Pairs of service host and reason.
Fallen: TypeAlias = Sequence[tuple[str, reasons.Reason | None]]
Style: TypeAlias = Callable[[Fallen], Iterator[str]]


def text(explanation: schedule.Explanation, fallen: Style) -> str:
    """Return an explanation as text for people.

    :param fallen: `counted` or `named`: the style for dropped hosts
    """
    parts = [[outcome(explanation)], _request(explanation),
             _request_filters(explanation), _candidates(explanation, fallen),
             _filters(explanation, fallen), _weighers(explanation),
             _missing(explanation)]
    return '\n\n'.join('\n'.join(lines) for lines in map(list, parts)
                       if lines)


def outcome(explanation: schedule.Explanation) -> str:
    """Return the outcome of a request in a single sentence."""
    best = explanation.best
    if len(best) == 1:
        return f'A server would be started on {best[0].host_state.host}.'
    if best:
        shown = ', '.join(weighed.host_state.host for weighed in best[:_BEST])
        more = ' and others' if len(best) > _BEST else ''
        return (f'A server would be started on one of {len(best)} hosts, and '
                f'chance decides on which: {shown}{more}.')
    return f'No host: {_why_none(explanation)}'


def _why_none(explanation: schedule.Explanation) -> str:
    if explanation.refusals:
        first = explanation.refusals[0]
        return f'request filter {first.rule} refuses: {first.reason}'
    if explanation.no_such_host is not None:
        return explanation.no_such_host
    if not explanation.candidates:
        return ('Placement has no candidate that the request lets in, because '
                + _most(_left_out(explanation)))
    for step in explanation.steps:
        if step.asked and not step.outcome.hosts:
            refusal = step.outcome.refusal
            return (f'after filter {step.outcome.rule} none is left, because '
                    + (refusal.text if refusal else
                       _most(_dropped(step.outcome))))
    return 'filters let no allocation candidate of any host through.'


def _most(fallen: Fallen) -> str:
    """Return all reasons in a single sentence, the most frequent first."""
    return '; '.join(f'{why} ({_hosts(len(hosts))})'
                     for why, hosts in _by_reason(fallen).items()) + '.'


def _hosts(number: int) -> str:
    return text_rules.counted(number, 'host', 'hosts')


def _request(explanation: schedule.Explanation) -> Iterator[str]:
    yield 'Request'
    for name, value in _asked(explanation).items():
        if value:
            yield f'  {name}: {value}'


def _asked(explanation: schedule.Explanation) -> dict[str, object]:
    spec = explanation.spec
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


def _request_filters(explanation: schedule.Explanation) -> Iterator[str]:
    if explanation.refusals:
        yield 'Request filters'
        for refusal in explanation.refusals:
            yield f'  {refusal.rule}: {refusal.reason}'
        yield '  What follows is told as if they had not refused.'


def _candidates(explanation: schedule.Explanation,
                fallen: Style) -> Iterator[str]:
    if explanation.no_such_host is not None:
        return
    nodes = text_rules.counted(
        explanation.nodes, 'compute node', 'compute nodes')
    yield f'Placement: {nodes} -> {explanation.candidates}'
    yield from fallen(_left_out(explanation))


def _left_out(explanation: schedule.Explanation) -> Fallen:
    return [*((node.host, node.reason) for node in explanation.left_out),
            *((host, _EXCLUDED) for host in explanation.excluded)]


def _dropped(made: filtering.Outcome) -> Fallen:
    return _judged(made.dropped)


def _judged(hosts: Sequence[filtering.Judged]) -> Fallen:
    return [(each.host_state.host, each.reason) for each in hosts]


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
    groups: dict[str, list] = {}
    for host, reason in fallen:
        groups.setdefault(reason.text if reason else _NOT_TOLD, []).append(
            (host, reason))
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))


def _filters(explanation: schedule.Explanation,
             fallen: Style) -> Iterator[str]:
    if explanation.is_forced:
        yield 'Filters: none is asked, for the request is forced to a host'
    elif explanation.steps:
        yield 'Filters'
    width = max((len(step.outcome.rule) for step in explanation.steps),
                default=0)
    for step in explanation.steps:
        yield (f'  {step.outcome.rule:{width}}  {step.asked} -> '
               f'{len(step.outcome.hosts)}  (alone it would keep {step.alone} '
               f'of {explanation.candidates})')
        yield from fallen(_dropped(step.outcome))
        yield from fallen(_judged(step.outcome.unknown))
    silent = _not_explained(explanation)
    if silent:
        yield f'  Not explained: {", ".join(silent)}'


def _not_explained(explanation: schedule.Explanation) -> list[str]:
    """Return the filters that drop hosts and give no reasons."""
    return [step.outcome.rule for step in explanation.steps
            if not step.is_explained and step.alone < explanation.candidates]


def _weighers(explanation: schedule.Explanation) -> Iterator[str]:
    if len(explanation.weighed) < 2:
        return
    yield (f'Weighers: the best {min(_BEST, len(explanation.weighed))} of '
           f'{_hosts(len(explanation.weighed))}')
    equal = _equal(explanation.weighed)
    table = prettytable.PrettyTable(
        ['Host', 'Weigher', 'Raw', 'Normalised', 'Multiplier', 'Weight'])
    table.align = 'r'
    table.align['Host'] = table.align['Weigher'] = 'l'
    for weighed in explanation.weighed[:_BEST]:
        rows = [score for score in weighed.scores
                if score.weigher not in equal]
        table.add_row([weighed.host_state.host, 'all together', '', '', '',
                       f'{weighed.total:g}'], divider=not rows)
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
    columns = zip(*(host.scores for host in weighed), strict=True)
    return [column[0].weigher for column in columns
            if len({score.weight for score in column}) == 1]


def _missing(explanation: schedule.Explanation) -> Iterator[str]:
    if explanation.missing:
        yield ('Not asked, because they are not on this machine; what they '
               'say may change all of it')
        for name, why in explanation.missing.items():
            yield f'  {name}: {why}'


def document(explanation: schedule.Explanation) -> dict:
    """Return an explanation for programs, with all dropped hosts."""
    return {
        'outcome': {
            'found': bool(explanation.best), 'text': outcome(explanation),
            'hosts': [weighed.host_state.host
                      for weighed in explanation.best]},
        'request': _asked(explanation),
        'request_filters': [{'rule': refusal.rule, 'reason': refusal.reason}
                            for refusal in explanation.refusals],
        'no_such_host': explanation.no_such_host,
        'placement': {'before': explanation.nodes,
                      'after': explanation.candidates,
                      **_drop_document(_left_out(explanation))},
        'is_forced': explanation.is_forced,
        'filters': [*map(_step_document, explanation.steps)],
        'weighed': [_weighed(weighed)
                    for weighed in explanation.weighed[:_BEST]],
        'not_explained': _not_explained(explanation),
        'not_loaded': dict(explanation.missing),
    }


def _step_document(step: schedule.Step) -> dict:
    outcome_ = step.outcome
    return {
        'rule': outcome_.rule, 'before': step.asked,
        'after': len(outcome_.hosts), 'alone': step.alone,
        'explained': step.is_explained,
        'refusal': outcome_.refusal and outcome_.refusal.text,
        **_drop_document(_dropped(outcome_)),
        'unknown': [{'host': host, 'reason': reason and reason.text}
                    for host, reason in _judged(outcome_.unknown)]}


def _drop_document(fallen: Fallen) -> dict:
    return {
        'reasons': [{'reason': why, 'hosts': len(hosts)}
                    for why, hosts in _by_reason(fallen).items()],
        'dropped': [{'host': host, 'reason': reason and reason.text,
                     'detail': reason and reason.detail}
                    for host, reason in fallen]}


def _weighed(weighed: weighing.Weighed) -> dict:
    return {
        'host': weighed.host_state.host, 'total': weighed.total,
        'scores': [
            {'weigher': score.weigher, 'raw': score.raw,
             'normalised': score.normalised, 'multiplier': score.multiplier,
             'weight': score.weight} for score in weighed.scores]}
