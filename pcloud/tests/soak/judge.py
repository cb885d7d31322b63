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

"""Whether the rows are what the answers to calls have promised."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from pcloud.tests.soak import calls
from pcloud.tests.soak import registers


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A call with its answer.

    :ivar code: the status code; None when no answer came, and nobody knows
        whether it was done
    """

    call: calls.Call
    code: int | None
    text: str
    start: float
    end: float

    @property
    def done(self) -> bool:
        """Whether the answer says that it was done."""
        return self.code is not None and self.code < 300

    def touches(self, register: registers.Register) -> bool:
        """Whether the call would change a register."""
        return (register in self.call.effects or
                register[0] == self.call.clears)

    def says(self) -> str:
        """Return call and answer in a line."""
        return (f'{self.call.method} {self.call.path} {self.call.body} -> '
                f'{self.code} {self.text[:300]}')


@dataclasses.dataclass(frozen=True)
class Violation:
    """Something that must not be."""

    kind: str
    subject: str
    text: str


def judge(before: Mapping, after: Mapping,
          outcomes: Sequence[Outcome]) -> Iterator[Violation]:
    """Compare the registers of an owner before and after calls.

    Nobody else changes them. Of calls at the same time any may have been
    the last.
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
    """Give the call that made a Pcloud its effects, now that it has an id."""
    for pcloud, name in born.items():
        if name == outcome.call.birth:
            return dataclasses.replace(outcome, call=dataclasses.replace(
                outcome.call, effects={
                    (pcloud, *register[1:]): value for register, value
                    in outcome.call.effects.items()}))
    return outcome


def _fault(register: registers.Register, was: object, now: object,
           outcomes: Iterable[Outcome]) -> str | None:
    """Return what is wrong with a register, None when nothing is."""
    if registers.is_half(now):
        return 'half-made'
    if registers.is_half(was):
        # Told already; whatever has become of it is better.
        return None
    touching = [each for each in outcomes if each.touches(register)]
    done = {each.call.effects.get(register) for each in touching if each.done}
    unknown = {each.call.effects.get(register) for each in touching
               if each.code is None}
    if now in (done or {was}) | unknown:
        return None
    if any(now == each.call.effects.get(register) for each in touching):
        return 'refused, but changed something'
    return 'acknowledged change lost' if done else 'changed by nobody'


def _follows(register: registers.Register, before: Mapping,
             after: Mapping) -> bool:
    """Whether a tenant came or went with its Pcloud, which is told of."""
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
    """A call without an answer has done all or nothing."""
    effects = outcome.call.effects
    if outcome.code is not None or any(
            registers.is_half(after.get(each)) for each in effects):
        return
    changing = {each for each, value in effects.items()
                if before.get(each) != value}
    done = {each for each in changing if after.get(each) == effects[each]}
    if done and done != changing:
        yield Violation('half of a change', ' '.join(min(done)), told)


def refusal(outcome: Outcome, faults: bool) -> str | None:
    """Return what is wrong with the answer to a call made by itself.

    :param faults: whether servers are being kept away
    """
    if outcome.code is None or outcome.done:
        return None
    if outcome.code == 503 and faults:
        return None
    if outcome.code in outcome.call.refusals and (
            'has a host named' not in outcome.text):
        return None
    return 'refused without a reason'
