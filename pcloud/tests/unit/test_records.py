# SPDX-License-Identifier: Apache-2.0

"""Every record that is a metadata value, whatever the record's fields."""

import dataclasses
import pathlib

import ddt
import hypothesis
from hypothesis import strategies as st
import testtools

from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud import exception
from pcloud.rules import coded
from pcloud.rules import forms
from pcloud.rules import looks
from pcloud.rules.moving import assignments
from pcloud.rules.moving import dates
from pcloud.rules.moving import draining
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import maintenance_windows
from pcloud.rules.moving import recovery
from pcloud.rules.moving import shrinking
from pcloud.rules.moving import spares
from pcloud.rules.placing import access
from pcloud.rules import ratios
from pcloud.rules import record
from pcloud.rules import turns
from pcloud.rules.usage import caps
from pcloud.rules.usage import ledger
from pcloud.rules import waiting

_REFERENCE = pathlib.Path(__file__).parents[3] / (
    'doc/source/reference/metadata.rst')
_SECONDS = st.integers(0, record.LATEST)
_UUIDS = st.uuids().map(str)
_TOKENS = st.from_regex('[0-9a-f]{8}', fullmatch=True)
_TEXTS = st.text(st.characters(
    max_codepoint=0xffff, exclude_categories=('Cc', 'Cs'),
    exclude_characters='\u2028\u2029'), min_size=1)
# A record holds nine digits.
_RATIOS = st.floats(0, 3e38).map(lambda ratio: float(f'{ratio:.9g}'))
_FLAGS = st.booleans()


def _dues(**others: st.SearchStrategy) -> st.SearchStrategy:
    return st.builds(
        due.Due, st.from_regex('[0-9a-f]{12}', fullmatch=True),
        st.none() | _UUIDS, st.none() | _UUIDS, pcloud=st.none() | _UUIDS,
        cpu=st.none() | _RATIOS, ram=st.none() | _RATIOS,
        since=st.none() | _SECONDS, name=st.none() | st.from_regex(
            forms.HOST_NAME, fullmatch=True), **others)


# A change writes an event or a service, and of a host that has failed and
# leaves both.
_DUES = _dues(service=st.none() | st.sampled_from([due.ON, due.OFF])) | _dues(
    event=st.none() | st.sampled_from(
        [due.ADDED, due.GROWN, due.REPLACING, due.RECOVERING,
         due.REMOVED])) | _dues(
    service=st.just(due.OFF), event=st.just(due.REMOVED))
RECORDS = {
    draining.Drain: st.builds(
        draining.Drain, _SECONDS, st.sampled_from(draining.MOVES), _FLAGS,
        st.none() | _SECONDS, _FLAGS,
        st.none() | st.sampled_from(access.STATES), _FLAGS, _FLAGS),
    maintenance_windows.KeptMaintenance: st.builds(
        maintenance_windows.KeptMaintenance, _SECONDS,
        st.none() | _SECONDS, _FLAGS,
        st.just('') | _TEXTS) | st.just(
            maintenance_windows.KeptMaintenance(open=True)),
    maintenance_policies.Reaction: st.builds(
        maintenance_policies.Reaction, _SECONDS, _FLAGS, st.none() | _TEXTS
    ) | st.builds(maintenance_policies.Reaction, replacement=_TEXTS),
    maintenance_policies.StandIn: st.builds(
        maintenance_policies.StandIn, _FLAGS, _FLAGS, _FLAGS, host=_TEXTS),
    spares.Spare: st.builds(spares.Spare, _SECONDS),
    shrinking.Idle: st.builds(shrinking.Idle, _SECONDS),
    shrinking.Shrink: st.builds(
        shrinking.Shrink, st.integers(1, shrinking.MOST_HOURS), *[
            st.integers(0, shrinking.MOST_HOSTS)] * 2),
    recovery.Recovery: st.builds(
        recovery.Recovery, st.sampled_from([recovery.MOVING, recovery.DONE]),
        _SECONDS, st.none() | st.sampled_from(access.STATES)) | st.builds(
            recovery.Recovery, st.just(recovery.HELD), _SECONDS, st.none(),
            _FLAGS),
    recovery.Begun: st.builds(recovery.Begun, _SECONDS, _UUIDS),
    assignments.Assignment: st.builds(
        assignments.Assignment, _TOKENS, st.integers(1, 10 ** 10 - 1),
        _SECONDS, st.sampled_from([draining.LIVE, draining.ANY]), _UUIDS,
        _UUIDS),
    assignments.Stopped: st.builds(
        assignments.stopped, _SECONDS, st.just(
            coded.Reason('host_left')) | st.builds(
                lambda server: coded.Reason('server_left', server=server),
                _UUIDS)),
    turns.Turn: st.builds(turns.Turn, _TOKENS, _SECONDS),
    looks.Look: st.builds(looks.Look, _SECONDS),
    ratios.OwnRatios: st.builds(
        ratios.OwnRatios, _RATIOS, st.none() | _RATIOS) | st.builds(
            ratios.OwnRatios, ram=_RATIOS),
    caps.Caps: st.tuples(*[st.none() | st.integers(0, 2 ** 31)] * 3).filter(
        any).map(lambda numbers: caps.Caps(*numbers)),
    ledger.Span: st.builds(
        ledger.Span, st.from_regex(forms.HOST_FLAVOR_ID, fullmatch=True),
        _UUIDS, _SECONDS, free=_FLAGS, project=_TEXTS),
    ledger.Rate: st.builds(
        ledger.Rate, st.integers(0, 10 ** 10 - 1),
        st.none() | st.from_regex(ledger.PRICE, fullmatch=True)),
    ledger.Sum: st.tuples(st.integers(1, 10 ** 9), *[st.integers(
        0, 10 ** 30 - 1)] * 2, st.none() | st.integers(
            0, 10 ** 30 - 1)).map(lambda numbers: ledger.Sum(*numbers)),
    waiting.Entry: st.builds(
        waiting.Entry, _UUIDS,
        st.from_regex('[A-Za-z0-9._-]{1,63}', fullmatch=True), _SECONDS,
        _SECONDS, st.none() | _SECONDS,
        st.none() | st.sampled_from(draining.MOVES), st.none() | _TEXTS),
    dates.Until: st.builds(
        dates.Until, _SECONDS, st.sampled_from(draining.MOVES), _FLAGS),
    journal.Released: st.builds(
        journal.Released, st.integers(0, 10 ** 10 - 1), _TEXTS),
    due.Due: _DUES.map(due.fitting)}

_often = hypothesis.settings(deadline=None, max_examples=100)


@ddt.ddt
class RecordsTest(testtools.TestCase):

    def test_all_are_here(self):
        self.assertEqual(set(RECORDS), {
            kind for kind in record.Record.__subclasses__()
            if not kind.__module__.startswith('pcloud.tests')})

    @ddt.data(*RECORDS)
    def test_reference(self, kind):
        """The reference shows what the error of a wrong value shows."""
        error = self.assertRaises(exception.InvalidRecord, kind.read, '')
        shown = str(error).partition(' it has to be ')[2].removesuffix('.')
        page = _REFERENCE.read_text(encoding='utf-8')
        self.assertIn(
            f'``{shown.replace("<YYYYMMDDTHHMMSSZ>", "<moment>")}``',
            ' '.join(page.split()))

    @ddt.data(*RECORDS)
    def test_what_is_written_is_read(self, kind):
        @_often
        @hypothesis.given(RECORDS[kind])
        def check(made):
            if not made.fits():
                self.assertRaises(exception.InvalidRecord, made.text)
                return
            text = made.text()
            self.assertLessEqual(len(text), 255)
            self.assertEqual(made, kind.read(text))
            self.assertEqual(made, kind.known(text))
            self.assertEqual(text, kind.read(text).text())

        check()

    @ddt.data(*RECORDS)
    def test_what_is_written_by_hand(self, kind):
        @_often
        @hypothesis.given(st.text())
        def check(text):
            self.check_text(kind, text)

        check()

    @ddt.data(*RECORDS)
    def test_what_is_changed_by_hand(self, kind):
        @_often
        @hypothesis.given(RECORDS[kind], st.integers(0, 255), st.integers(
            0, 255), st.text(max_size=5))
        def check(made, begin, length, new):
            hypothesis.assume(made.fits())
            text = made.text()
            self.check_text(kind, text[:begin] + new + text[begin + length:])

        check()

    def check_text(self, kind, text):
        """A text is right, in the one form, or is refused by the one error."""
        try:
            made = kind.read(text)
        except exception.InvalidRecord:
            self.assertIsNone(kind.known(text))
        else:
            self.assertEqual(text, made.text())

    @hypothesis.settings(deadline=None)
    @hypothesis.given(_DUES)
    def test_what_is_due_fits(self, what):
        fitting = due.fitting(what)
        self.assertTrue(fitting.fits())
        self.assertEqual(dataclasses.replace(what, provider=None),
                         dataclasses.replace(fitting, provider=None))

    @hypothesis.settings(deadline=None)
    @hypothesis.given(_SECONDS, st.none() | _SECONDS, _TEXTS.map(
        lambda text: (text * 200)[:maintenance_windows.REASON_LENGTH]))
    def test_maintenances_fit(self, begin, end, reason):
        for is_open in False, True:
            window = maintenance_windows
            self.assertTrue(window.kept(window.Maintenance(
                begin, end, reason), is_open).fits())

    def test_what_a_query_looks_for(self):
        stand_in = maintenance_policies.StandIn
        self.assertTrue(stand_in(host='a').text().startswith(
            maintenance_policies.STANDS_IN))
        for other in stand_in(True, host='a'), stand_in(spare=True, host='a'):
            self.assertFalse(other.text().startswith(
                maintenance_policies.STANDS_IN))
        self.assertTrue(due.Due('0' * 12, name='a').text().startswith(
            due.with_mark('0' * 12) + ' '))
        self.assertTrue(journal.Released(7, 'a').text().endswith(
            ' project=a'))
