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

"""What is cut out of a body is what a parser would take out."""

import json

import hypothesis
from hypothesis import strategies as st
import testtools

from pcloud.api.nova_calls import shown_hints
from pcloud.rules import hints

_MARKS = st.sampled_from([hints.DOMAIN_RECORD, hints.CUSTOMER_RECORD,
                          hints.IMAGE_RECORD])
_NAMES = st.sampled_from(['group', 'pcloud', 'a"b', 'a\\', '\\"']) | (
    _MARKS | st.builds('x"{}'.format, _MARKS) |
    st.builds('x\\{}'.format, _MARKS) | st.builds('{}X'.format, _MARKS))
_TEXTS = st.text(alphabet='a\\"[]{}:, _\n\u00e9', max_size=6) | st.builds(
    '"{}": ["x"], '.format, _MARKS)
_HINTS = st.dictionaries(_NAMES, st.lists(_TEXTS, max_size=3), max_size=5)
_SERVERS = st.lists(st.fixed_dictionaries({
    'name': _TEXTS, 'metadata': st.dictionaries(_TEXTS, _TEXTS, max_size=2),
    'scheduler_hints': _HINTS}), max_size=3)


class RecordsTest(testtools.TestCase):

    def _parsed(self, servers):
        return [{**server, 'scheduler_hints': {
            name: value for name, value in server['scheduler_hints'].items()
            if not hints.is_record(name)}} for server in servers]

    @hypothesis.given(_SERVERS, st.sampled_from([None, (',', ':')]))
    def test_as_a_parser(self, servers, separators):
        body = json.dumps(servers, separators=separators).encode()
        self.assertEqual(self._parsed(servers),
                         json.loads(shown_hints.without_records(body)))

    def test_without_records_nothing_is_changed(self):
        body = b'no JSON at all'
        self.assertIs(body, shown_hints.without_records(body))

    def test_nothing_is_parsed(self):
        cut = shown_hints.without_records(
            b'[{"scheduler_hints": {"_pcloud_domain": ["default"]}}, no JSON')
        self.assertEqual(b'[{"scheduler_hints": {}}, no JSON', cut)

    def test_hosts(self):
        body = json.dumps({'server': {'scheduler_hints': {
            'constraints': ['host=node-1 cpu=2']}}}).encode()
        self.assertTrue(shown_hints.may_name_host(body))
        self.assertEqual(
            {'constraints': ['cpu=2']}, json.loads(
                shown_hints.without_hosts(body))['server']['scheduler_hints'])
