# SPDX-License-Identifier: Apache-2.0

"""Reasons: their words follow from codes and params, which are documented."""

import ast
import copy
import inspect
import itertools
import pathlib
import pickle
import re
import string
import time

import ddt
import fixtures
from oslotest import base

from pcloud.rules import coded

ROOT = pathlib.Path(__file__).parents[4]
PAGE = ROOT / 'doc' / 'source' / 'reference' / 'reasons.rst'
SAMPLES = {'doubt': 'numa_cells', 'why': 'locked', 'left': 1, 'needed': 2,
           'servers': 1, 'hosts': 1, 'more': 0, 'resource': 'VCPU'}


def params_of(code):
    """Return the names of the params of a code, in order."""
    words = coded.WORDS[code]
    if isinstance(words, str):
        return [name for _, name, _, _ in string.Formatter().parse(words)
                if name]
    return [each.name for each in inspect.signature(words).parameters.values()
            if each.kind != each.VAR_KEYWORD]


def sample(code):
    """Return a reason of a code."""
    return coded.Reason(code, **{
        name: SAMPLES.get(name, f'<{name}>') for name in params_of(code)})


def read_table(name):
    """Return the rows of a table of the reference, each a list of texts.

    :param name: the table's class
    """
    found = re.search(rf'   :class: {name}\n\n((?:   .*\n)+)',
                      PAGE.read_text())
    rows = []
    for line in found[1].splitlines():
        if line.startswith('   * - '):
            rows.append([])
        if line[5:7] == '- ':
            rows[-1].append(line[7:].strip())
        else:
            rows[-1][-1] += ' ' + line.strip()
    return rows[1:]


def made_reasons():
    """Yield file, call and codes of each reason that the code makes."""
    for path in sorted((ROOT / 'pcloud').rglob('*.py')):
        if 'tests' in path.parts or path.name == 'coded.py':
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(
                    node.func) == 'coded.Reason':
                yield path, node, [
                    each.value for each in ast.walk(node.args[0])
                    if isinstance(each, ast.Constant)
                    and isinstance(each.value, str)]


@ddt.ddt
class ReasonTest(base.BaseTestCase):

    @ddt.data(*coded.WORDS)
    def test_words_follow_from_code_and_params(self, code):
        reason = sample(code)
        self.assertEqual(code, reason.code)
        self.assertEqual(params_of(code), list(reason.params))
        again = coded.Reason(reason.code, **reason.params)
        self.assertEqual(str(reason), str(again))
        self.assertNotIn('{', str(reason))
        for value in reason.params.values():
            self.assertIsInstance(value, str | int | None)
        for name, value in reason.params.items():
            if isinstance(coded.WORDS[code], str):
                self.assertIn(str(value), reason)

    def test_a_reason_is_its_words(self):
        reason = coded.Reason('task', task='{rebooting}')
        self.assertEqual('it is busy ({rebooting})', reason)
        self.assertEqual('s: it is busy ({rebooting})', f's: {reason}')
        for other in (copy.deepcopy(reason),
                      pickle.loads(pickle.dumps(reason))):
            self.assertEqual((reason, reason.code, reason.params),
                             (other, other.code, other.params))

    def test_words_of_others(self):
        reason = coded.of('No {valid} host')
        self.assertEqual(('No {valid} host', 'in_words',
                          {'reason': 'No {valid} host'}),
                         (reason, reason.code, reason.params))
        known = coded.Reason('locked')
        self.assertIs(known, coded.of(known))

    @ddt.data(
        (coded.Reason('too_little', resource='VCPU', left=1, needed=2),
         '1 cpu is left, 2 are needed'),
        (coded.Reason('too_little', resource='VGPU', left=0, needed=1),
         '0 of VGPU are left, 1 is needed'),
        (coded.Reason('flavor_not_allowed', flavor='a', allowed='', more=0),
         "its owner does not allow flavor 'a' there, but no flavor at all"),
        (coded.Reason('flavor_not_allowed', flavor='a', allowed='b', more=2),
         "its owner does not allow flavor 'a' there, but only b and 2 more"),
        (coded.Reason('image_not_allowed', image='a', allowed='b, c', more=0),
         "its owner does not allow image 'a' there, but only b, c"),
        (coded.Reason('image_not_allowed', image='a', allowed='b', more=3),
         "its owner does not allow image 'a' there, but only b and 3 more"),
        (coded.Reason('image_not_allowed', image='a', allowed='', more=0),
         "its owner does not allow image 'a' there, but no image at all"),
        (coded.Reason('volume_not_allowed', allowed='b', more=1),
         'its owner does not allow a volume of which Nova does not know the '
         'image there, but only b and 1 more'),
        (coded.Reason('volume_not_allowed', allowed='', more=0),
         'its owner does not allow a volume of which Nova does not know the '
         'image there, but no image at all'),
        (coded.Reason('no_worker', since=None),
         'no worker has looked, so nothing is done until the operator starts '
         'one (pcloud-manage work)'),
        (coded.Reason('no_room', needed='1 cpu'),
         'no other enabled host of the Pcloud has capacity for it (1 cpu); '
         'enable or add a host'),
        (coded.Reason('no_room', needed=''),
         'no other enabled host of the Pcloud has capacity for it; enable or '
         'add a host'),
        (coded.Reason('flavor_unplanned', flavor=None, doubt='groups'),
         'a flavor of another tenant asks for resources in groups'),
        (coded.Reason('flavor_unplanned', flavor='a', doubt='groups'),
         'flavor a asks for resources in groups'),
        (coded.Reason('servers_with_devices', servers=1),
         '1 server has PCI devices of ports'),
        (coded.Reason('servers_with_devices', servers=2),
         '2 servers have PCI devices of ports'),
        (coded.Reason('servers_unknown', servers=1),
         '1 server of which no plan knows what they need'),
        (coded.Reason('servers_unknown', servers=2),
         '2 servers of which no plan knows what they need'),
        (coded.Reason('no_host_up', beside='SSD'),
         "there is no host with 'SSD' that is up and enabled"),
        (coded.Reason('no_host_up', beside=None),
         'there is no host that is up and enabled'),
        (coded.Reason('no_more_groups', hosts=None, needed='1 cpu'),
         'no host has more capacity for 1 cpu together'),
        (coded.Reason('no_more_groups', hosts=1, needed='1 cpu'),
         'not even the only host that would do has more capacity for 1 cpu '
         'together'),
        (coded.Reason('no_more_groups', hosts=2, needed='1 cpu'),
         'none of the 2 hosts that would do has more capacity for 1 cpu '
         'together'),
        (coded.Reason('server_stays', server='s', why='task', task='x'),
         'server s: it is busy (x)'))
    @ddt.unpack
    def test_words_with_numbers(self, reason, words):
        self.assertEqual(words, str(reason))

    def test_moments_are_in_utc(self):
        self.addCleanup(time.tzset)
        self.useFixture(fixtures.EnvironmentVariable('TZ', 'Asia/Tokyo'))
        time.tzset()
        self.assertEqual('1970-01-01T00:01:01Z', coded.moment(61.5))


class ReferenceTest(base.BaseTestCase):

    maxDiff = None

    def test_every_code_is_in_the_table(self):
        told = {row[0].strip('`'): row[1:] for row in read_table('reasons')}
        self.assertEqual(list(coded.WORDS), list(told))
        for code, (params, words) in told.items():
            self.assertEqual(
                params_of(code), re.findall('``([a-z_]+)``', params)[
                    :len(params_of(code))], code)
            written = coded.WORDS[code]
            if isinstance(written, str):
                self.assertEqual(written, words)

    def test_every_doubt_is_in_the_table(self):
        self.assertEqual(
            [[f'``{doubt}``', words] for doubt, words
             in coded.DOUBTS.items()], read_table('doubts'))

    def test_every_reason_that_is_made_has_the_params_of_its_code(self):
        wrong = []
        for path, call, codes in made_reasons():
            given = {each.arg for each in call.keywords}
            for code in codes:
                its = set(params_of(code)) if code in coded.WORDS else None
                if its is None or (its != given if None not in given else
                                   not its >= given - {None} - {'why'}):
                    wrong.append(f'{path}:{call.lineno} {code}')
        self.assertEqual([], wrong)

    def test_every_code_is_used(self):
        used = set(itertools.chain.from_iterable(
            codes for _, _, codes in made_reasons()))
        # Chosen before the reason is made.
        used |= {'hosts_refuse', 'migration_failed', 'nova_found_no_host',
                 'in_words'}
        self.assertEqual(set(coded.WORDS), used)
