# SPDX-License-Identifier: Apache-2.0

"""Compares rows with the promises in the answers to calls."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import json

from pcloud.tests.soak import calls
from pcloud.tests.soak import registers

OF_NOVA = 'answer 500 of Nova: too many connections'
OF_PCLOUD = 'answer 503 of Pcloud: too many connections'
# All calls of Pcloud, beside the calls of Nova.
_PATHS = ('/os-pcloud', '/os-host-flavors')
# What Nova names in an answer when the database refuses a connection.
_OUTAGES = ('OperationalError', 'DBConnectionError', 'DBError')
# What Pcloud says while a database, or Placement for want of one, is away.
_SILENCES = ('database of the compute service cannot be reached',
             'part of the cloud does not answer')


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A call with the answer.

    :ivar code: the status code; None when no answer came, so that the outcome
        of the call is unknown
    """

    call: calls.Call
    code: int | None
    text: str
    start: float
    end: float

    @property
    def done(self) -> bool:
        """Whether the answer says that the call was done."""
        return self.code is not None and self.code < 300

    def json(self) -> dict:
        """Return the body of the answer."""
        return json.loads(self.text)

    def touches(self, register: registers.Register) -> bool:
        """Return whether the call would change a register."""
        return (register in self.call.effects or
                register[0] == self.call.clears)

    def says(self) -> str:
        """Return a line with call and answer."""
        return (f'{self.call.method} {self.call.path} {self.call.body} -> '
                f'{self.code} {self.text[:300]}')


@dataclasses.dataclass(frozen=True)
class Violation:
    """A broken promise of Pcloud."""

    kind: str
    subject: str
    text: str


def judge(before: Mapping, after: Mapping,
          outcomes: Sequence[Outcome]) -> Iterator[Violation]:
    """Compare the registers of an owner before and after calls.

    No other client changes the registers. Among calls at the same time, any
    call may have been the last.
    """
    born = {register[0]: value for register, value in after.items()
            if register[1] == 'pcloud' and register not in before}
    outcomes = [_named(outcome, born) for outcome in outcomes]
    told = '; '.join(outcome.says() for outcome in outcomes) or 'no call'
    changed = before.keys() | after.keys() | {
        register for outcome in outcomes if outcome.done
        for register in outcome.call.effects}
    for register in sorted(changed):
        was, now = before.get(register), after.get(register)
        kind = _fault(register, was, now, outcomes)
        if kind and not _follows(register, before, after):
            yield Violation(kind, ' '.join(register),
                            f'was {was!r}, is {now!r} after {told}')
    yield from _given_twice(outcomes, told)
    if len(outcomes) == 1:
        yield from _torn(outcomes[0], before, after, told)


def _named(outcome: Outcome, born: Mapping[str, object]) -> Outcome:
    """Return an outcome whose effects name the id of the new Pcloud."""
    for pcloud, name in born.items():
        if name == outcome.call.birth:
            return dataclasses.replace(outcome, call=dataclasses.replace(
                outcome.call, effects={
                    (pcloud, *register[1:]): value for register, value
                    in outcome.call.effects.items()}))
    return outcome


def _fault(register: registers.Register, was: object, now: object,
           outcomes: Iterable[Outcome]) -> str | None:
    """Return the kind of a register's violation, or None."""
    if registers.is_half(now):
        return 'half-made'
    if registers.is_half(was):
        # Reported before; any further change is an improvement.
        return None
    touching = [each for each in outcomes if each.touches(register)]
    done = {each.call.effects.get(register) for each in touching if each.done}
    unknown = {each.call.effects.get(register) for each in touching
               if each.code is None}
    if now in (done or {was}) | unknown:
        return None
    # Any worker has the host leave.
    if now is None and registers.LEAVING in done | unknown | {was}:
        return None
    if any(now == each.call.effects.get(register) for each in touching):
        return 'refused, but changed something'
    return 'acknowledged change lost' if done else 'changed by nobody'


def _follows(register: registers.Register, before: Mapping,
             after: Mapping) -> bool:
    """Return whether a tenant came or went with a Pcloud.

    The change of the Pcloud is judged by itself.
    """
    whole = (register[0], 'pcloud', '')
    return register[1] == 'tenant' and (whole in before) != (whole in after)


def _given_twice(outcomes: Iterable[Outcome],
                 told: str) -> Iterator[Violation]:
    seen = set()
    for outcome in outcomes:
        if outcome.done and outcome.call.kind.startswith('POST'):
            for register in outcome.call.effects:
                if register in seen:
                    yield Violation('given twice', ' '.join(register), told)
                seen.add(register)


def _torn(outcome: Outcome, before: Mapping, after: Mapping,
          told: str) -> Iterator[Violation]:
    """Yield a violation when a call without an answer was half done."""
    effects = outcome.call.effects
    if outcome.code is not None or any(
            registers.is_half(after.get(each)) for each in effects):
        return
    changing = {each for each, value in effects.items()
                if before.get(each) != value}
    done = {each for each in changing if after.get(each) == effects[each]}
    if done and done != changing:
        yield Violation('half of a change', ' '.join(min(done)), told)


def is_done(call: calls.Call, values: Mapping) -> bool:
    """Return whether the registers are as after a call.

    A drain that releases the host is done, too, when a worker has already had
    the host leave: the repetition of such a call is rightly answered 404.

    :param values: the registers after the call
    """
    return all(
        values.get(register) == value or (
            value == registers.LEAVING and register not in values)
        for register, value in call.effects.items()) and not any(
            register[0] == call.clears for register in values)


def server_error(path: str, text: str, errors: str) -> str | None:
    """Return the event to count for an answer that is nobody's fault, or None.

    MariaDB refuses connections (1040) when there are too many. Nova answers
    500 then, and Pcloud 503: a 500 of Pcloud's own calls is never excused.

    :param text: the answer
    :param errors: the last errors of connections in the log
    """
    if '1040' not in text + errors:
        return None
    if any(each in text for each in _SILENCES):
        return OF_PCLOUD
    if path.startswith(_PATHS) or not any(each in text for each in _OUTAGES):
        return None
    return OF_NOVA


def refusal(outcome: Outcome, faults: bool) -> str | None:
    """Return the kind of an answer's violation, or None.

    :param outcome: a call that was made alone
    :param faults: whether the proxies cause faults
    """
    if outcome.code is None or outcome.done:
        return None
    if outcome.code == 503 and faults:
        return None
    if outcome.code in outcome.call.refusals and (
            'has a host named' not in outcome.text):
        return None
    return 'refused without a reason'
