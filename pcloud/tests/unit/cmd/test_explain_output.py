# SPDX-License-Identifier: Apache-2.0

"""How an explanation is printed."""

from nova import objects
from nova.scheduler import host_manager
from oslotest import base

from pcloud.cmd import explain_output
from pcloud.explain import conductor
from pcloud.explain import filtering
from pcloud.explain import offers
from pcloud.explain import schedule
from pcloud.explain import weighing
from pcloud.rules.placing import reasons

FULL = reasons.open_to_all('it is full', '0 cpus are left')
CLOSED = reasons.open_to_all('the host is kept for Pclouds')


def _host(name):
    made = host_manager.HostState(name, name, 'cell')
    made.allocation_candidates = [{}]
    return made


def _step(rule, kept, dropped, refusal=None):
    return schedule.Step(
        filtering.Outcome(rule, [_host(each) for each in kept], [
            filtering.Judged(_host(each), reason)
            for each, reason in dropped], refusal),
        len(kept) + len(dropped), 2, rule != 'OddFilter')


def _weighed(name, *scores):
    return weighing.Weighed(_host(name), tuple(
        weighing.Score(weigher, raw, normalised, multiplier)
        for weigher, raw, normalised, multiplier in scores))


class OutputTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()
        self.spec = objects.RequestSpec(
            flavor=objects.Flavor(name='m1.tiny'), project_id=None,
            availability_zone=None, force_hosts=None, force_nodes=None,
            scheduler_hints={'far': ['a', 'b'], '_pcloud_domain': ['d']})

    def _found(self, **more):
        return schedule.Explanation(
            self.spec, **{'refusals': [], 'nodes': 4, 'candidates': 3,
                          **more})

    def test_a_filter_leaves_none(self):
        found = self._found(
            left_out=[offers.Node('h4', 'n4', FULL)],
            steps=[_step('PcloudFilter', ['h3'], [('h1', CLOSED),
                                                  ('h2', CLOSED)]),
                   _step('OddFilter', [], [('h3', None)]),
                   _step('RebootFilter', [], [])])
        self.assertEqual([
            'No host: after filter OddFilter none is left, because it gives '
            'no reason (1 host).',
            '',
            'Request',
            '  flavor: m1.tiny',
            '  hints: far=a far=b',
            '',
            'Placement: 4 compute nodes -> 3',
            '    1 host: it is full',
            '        h4: 0 cpus are left',
            '',
            'Filters',
            '  PcloudFilter  3 -> 1  (alone it would keep 2 of 3)',
            '    2 hosts: the host is kept for Pclouds',
            '        h1',
            '        h2',
            '  OddFilter     1 -> 0  (alone it would keep 2 of 3)',
            '    1 host: it gives no reason',
            '        h3',
            '  RebootFilter  0 -> 0  (alone it would keep 2 of 3)',
            '  Not explained: OddFilter',
        ], explain_output.text(found, explain_output.named).splitlines())
        brief = explain_output.text(found, explain_output.counted)
        self.assertIn('    1 host: it is full\n\n', brief)
        self.assertNotIn('h4', brief)
        self.assertEqual([], explain_output.document(found)['weighed'])

    def test_who_says_no(self):
        refusal = reasons.open_to_all('Not today.')
        for expected, more in (
                ('No host: request filter a refuses: b',
                 {'refusals': [conductor.RequestRefused('a', 'b')],
                  'weighed': [_weighed('h1')]}),
                ('No host: No such host', {'no_such_host': 'No such host'}),
                ('No host: Placement has no candidate that the request lets '
                 'in, because the host is kept for Pclouds (1 host); the '
                 'request leaves it out, or Nova has no compute service of '
                 'it (1 host).',
                 {'candidates': 0, 'excluded': ['h2'],
                  'left_out': [offers.Node('h1', 'n1', CLOSED)]}),
                ('No host: after filter F none is left, because Not today.',
                 {'steps': [_step('F', [], [('h1', refusal)], refusal)]})):
            self.assertEqual(
                expected, explain_output.outcome(self._found(**more)))

    def test_weights(self):
        found = self._found(weighed=[
            _weighed('h1', ('RAMWeigher', 512, 1, 1.0), ('X', 1, 0, 5.0)),
            _weighed('h2', ('RAMWeigher', 256, 0, 1.0), ('X', 1, 0, 5.0))])
        self.assertEqual('A server would be started on h1.',
                         explain_output.outcome(found))
        printed = explain_output.text(found, explain_output.counted)
        self.assertRegex(
            printed, r'\|  +\| RAMWeigher +\| 512 \| +1 \| +1 \| +1 \|')
        self.assertIn('The same for all hosts: X', printed)

    def test_chance(self):
        found = self._found(weighed=[
            _weighed(f'h{number}') for number in range(12)])
        self.assertEqual(
            'A server would be started on one of 12 hosts, and chance '
            'decides on which: h0, h1, h2, h3, h4, h5, h6, h7, h8, h9 and '
            'others.',
            explain_output.outcome(found))

    def test_what_is_not_on_this_machine(self):
        printed = explain_output.text(
            self._found(missing={'F': 'no module'}), explain_output.counted)
        self.assertIn('Not asked, because they are not on this machine',
                      printed)
        self.assertIn('  F: no module', printed)
