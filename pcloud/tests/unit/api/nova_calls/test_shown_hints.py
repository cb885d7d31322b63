# SPDX-License-Identifier: Apache-2.0

"""What is hidden in the text of a body is what a parser would hide."""

import json
from unittest import mock

import hypothesis
from hypothesis import strategies as st
import testtools

from pcloud.api.nova_calls import shown_hints
from pcloud import exception
from pcloud.rules.placing import constraints
from pcloud.rules.placing import hints

_MARKS = st.sampled_from([hints.DOMAIN_RECORD, hints.CUSTOMER_RECORD,
                          hints.IMAGE_RECORD])
_MEMBER = 'scheduler_hints'
_NAMES = st.sampled_from(['group', 'pcloud', 'a"b', 'a\\', '\\"', _MEMBER]) | (
    _MARKS | st.builds('x"{}'.format, _MARKS) |
    st.builds('x\\{}'.format, _MARKS) | st.builds('{}X'.format, _MARKS))
_TEXTS = st.text(alphabet='a\\"[]{}:, _\n\u00e9', max_size=6) | st.builds(
    '"{}": ["x"], '.format, _MARKS) | _MARKS | st.sampled_from([
        _MEMBER, f'"{_MEMBER}": {{', f'{_MEMBER}": {{', 'host=node-1',
        '{', '}', '"}', 'x\\'])
_VALUES = st.recursive(
    st.lists(_TEXTS, max_size=3) | _TEXTS,
    lambda inner: st.dictionaries(_NAMES, inner, max_size=2) | st.lists(
        inner, max_size=2), max_leaves=4)
_HINTS = st.fixed_dictionaries({}, optional={
    'constraints': st.sampled_from([
        ['host=node-1 cpu=2'], ['cpu=2'], ['ghost=1'], ['host=\u00e9'],
        ['host=a', 'host=b'], ['host=a host=b'], 'host=node-1', ['x']]),
    'near': st.lists(_TEXTS, max_size=2),
    'wild': _VALUES})
_RECORDS = st.dictionaries(_MARKS, st.lists(_TEXTS, max_size=2), max_size=3)


@st.composite
def _mixed_hints(draw):
    """Records come last, as nova-api writes them, or anywhere."""
    given = {**draw(_HINTS), **draw(st.dictionaries(
        _NAMES, st.lists(_TEXTS, max_size=3), max_size=3)), **draw(_RECORDS)}
    order = draw(st.booleans())
    return given if order else dict(draw(st.permutations(list(
        given.items()))))


_SERVERS = st.lists(st.fixed_dictionaries({
    'name': _TEXTS, 'metadata': st.dictionaries(
        _TEXTS | st.just(_MEMBER), _TEXTS, max_size=2),
    'wild': _VALUES,
    _MEMBER: _mixed_hints() | st.none() | _VALUES,
    'tags': st.lists(_TEXTS, max_size=2)}), max_size=4)
# Servers that are listed together mostly have the same hints.
_LISTED = st.builds(
    list.__mul__, _SERVERS, st.sampled_from([1, 1, 2, 3]))
_SEPARATORS = st.sampled_from([None, (',', ':'), (' , ', ' : ')])


def _hidden(document, may_see_hosts):
    """Return a document as the rule has it, read as a whole."""
    if isinstance(document, list):
        return [_hidden(each, may_see_hosts) for each in document]
    if not isinstance(document, dict):
        return document
    return {name: (
        _hints(value, may_see_hosts)
        if name == _MEMBER and isinstance(value, dict)
        else _hidden(value, may_see_hosts))
        for name, value in document.items()}


def _hints(given, may_see_hosts):
    kept = {name: value for name, value in given.items()
            if not name.startswith('_pcloud_')}
    try:
        asked = constraints.parse(hints.constraints(kept))
    except exception.Invalid:
        return kept
    if 'host' in asked and not may_see_hosts:
        del asked['host']
        kept['constraints'] = [constraints.text(asked)]
    return kept


def _without(body, may_see_hosts=False):
    return shown_hints.without_secrets(body, lambda: may_see_hosts)


class ShownHintsTest(testtools.TestCase):

    @hypothesis.given(_LISTED, _SEPARATORS, st.booleans(), st.booleans(),
                      st.sampled_from([None, 1]))
    def test_as_a_parser(self, servers, separators, ascii_only, may_see,
                         indent):
        body = json.dumps(
            {'servers': servers}, separators=separators,
            ensure_ascii=ascii_only, indent=indent).encode()
        expected = _hidden({'servers': servers}, may_see)
        shown = _without(body, may_see)
        self.assertEqual(expected, json.loads(shown))
        # The order of members stays, too.
        self.assertEqual(json.dumps(expected), json.dumps(json.loads(shown)))

    @hypothesis.given(_LISTED, st.booleans())
    def test_nova_s_form_stays(self, servers, may_see):
        """Nova's body is the same to a letter as if Nova had written it."""
        shown = _without(json.dumps(servers).encode(), may_see)
        self.assertEqual(
            json.dumps(_hidden(servers, may_see)).encode(), shown)

    def test_without_hints_nothing_is_changed(self):
        body = b'no JSON at all'
        self.assertIs(body, _without(body))

    def test_with_nothing_to_hide_nothing_is_changed(self):
        body = json.dumps([{_MEMBER: {'pcloud': ['a']}}, {_MEMBER: {}}, {
            _MEMBER: {'group': ['a"b'], 'constraints': ['cpu=2']}}]).encode()
        self.assertIs(body, _without(body))

    def test_the_body_is_not_parsed(self):
        for given, kept in (
                (b'"_pcloud_domain": ["default"]', b''),
                (b'"group": ["a"], "_pcloud_domain": ["\\"{"]',
                 b'"group": ["a"]'),
                (b'"_pcloud_domain": ["default"], "group": ["a"]',
                 b'"group": ["a"]'),
                (b'"constraints": ["host=a cpu=2"]',
                 b'"constraints": ["cpu=2"]')):
            cut = _without(
                b'[{"scheduler_hints": {' + given + b'}}, no JSON')
            self.assertEqual(
                b'[{"scheduler_hints": {' + kept + b'}}, no JSON', cut)

    def test_where_all_hints_are_the_same(self):
        """Other texts with the same letters stay as they are."""
        hidden, kept = (json.dumps(each) for each in (
            {'a': ['b'], hints.DOMAIN_RECORD: ['c']}, {'a': ['b']}))
        for between in ('', '"name": "\\"scheduler_hints", ',
                        '"x\\"scheduler_hints": ' + hidden + ', ',
                        '"x": {"scheduler_hints": null}, ',
                        '"x": {"scheduler_hints": {"x": {}}}, '):
            body, expected = ('[' + ', '.join([
                '{' + between + '"scheduler_hints": ' + text + '}'] * 3) + ']'
                for text in (hidden, kept))
            self.assertEqual(expected.encode(), _without(body.encode()))

    def test_hints_that_cannot_be_read_are_not_shown(self):
        for body in (b'{"scheduler_hints": {"a": ["', b'{"scheduler_hints": {',
                     b'{"scheduler_hints":{"_pcloud_domain": ["x"]}},'):
            self.assertRaises(ValueError, _without, body)

    def test_equal_texts_are_judged_once(self):
        server = {_MEMBER: {'group': ['a'], hints.DOMAIN_RECORD: ['b']}}
        other = {_MEMBER: {'group': ['c'], hints.DOMAIN_RECORD: ['b']}}
        body = json.dumps([server, other] * 20).encode()
        with mock.patch.object(
                json, 'loads', side_effect=json.loads) as loads:
            _without(body)
        self.assertEqual(1, loads.call_count)

    def test_the_right_to_see_hosts_is_asked_once_and_where_needed(self):
        may_see = mock.Mock(return_value=False)
        shown_hints.without_secrets(json.dumps(
            [{'name': 'host=a', _MEMBER: {'constraints': ['cpu=1']}}]
        ).encode(), may_see)
        may_see.assert_not_called()
        shown_hints.without_secrets(json.dumps(
            [{_MEMBER: {'constraints': [f'host=a{n}']}} for n in range(9)]
        ).encode(), may_see)
        may_see.assert_called_once_with()
