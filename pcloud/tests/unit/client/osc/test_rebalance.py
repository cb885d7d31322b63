# SPDX-License-Identifier: Apache-2.0

"""The command that moves servers, through the real shell."""

import fixtures

from pcloud.client import rebalance_runs
from pcloud.tests.unit.client import base

PATH = f'/os-pclouds/{base.PCLOUD_ID}/rebalance'
PLAN = {
    'moves': [{'server': base.SERVER_1, 'from': 'b', 'to': 'c'},
              {'server': base.SERVER_2, 'from': 'a', 'to': 'b'}],
    'steps': [[0], [1]], 'frees': ['a'], 'units_saved': 1, 'fits': None,
    'exact': True, 'pinned': [{
        'server': base.SERVER_1, 'host': 'c', 'rule': 'locked',
        'reason': 'it is locked; unlock it'}],
    'not_explained': [], 'valid_for': 'abc.def', 'under_way': [],
    'stopped': None}
NONE = {**PLAN, 'moves': [], 'steps': [], 'frees': [], 'units_saved': 0,
        'pinned': []}


class TestRebalance(base.CloudTestCase):

    def setUp(self):
        super().setUp()
        self.answer_farm()
        self.clock = base.Clock()
        self.useFixture(fixtures.MockPatch(
            'pcloud.client.rebalance_runs.time', self.clock))

    def rebalance(self, *options):
        return self.openstack('pcloud', 'rebalance', 'farm', *options)

    def answer_plans(self, *plans):
        return self.answer('GET', PATH, *(
            {'json': {'rebalance': plan}} for plan in plans))

    def begun(self):
        return self.answer('POST', PATH, status_code=202,
                           json={'rebalance': PLAN})

    def test_plan(self):
        asked = self.answer_plans(PLAN)

        result = self.rebalance('-f', 'json')

        self.assertEqual([
            {'Step': 1, 'Server': base.SERVER_1, 'From': 'b', 'To': 'c'},
            {'Step': 2, 'Server': base.SERVER_2, 'From': 'a', 'To': 'b'}],
            result.json)
        self.assertEqual([
            'a becomes empty: 1 unit to give back.',
            f'{base.SERVER_1} stays on c: locked: it is locked; unlock it'],
            result.err.splitlines())
        self.assertEqual({'goal': ['free_hosts']}, asked.last_request.qs)
        self.assertEqual([], self.changes())

    def test_room(self):
        self.answer('GET', '/flavors/xl', json={'flavor': {
            'id': 'xl', 'name': 'm1.xl', 'vcpus': 4, 'ram': 8192}})
        asked = self.answer_plans({
            **NONE, 'fits': False, 'exact': False,
            'not_explained': [base.not_explained('x')],
            'under_way': [{'server': base.SERVER_1, 'from': 'a', 'to': 'b',
                           'step': 1}],
            'stopped': {
                'at': '2030-01-01T00:00:00Z', 'reason': 'no capacity'}})

        result = self.rebalance('--fit', 'xl=3', '--max-moves', '4',
                                '--move', 'any', '--apply')

        self.assertEqual(0, result.status)
        self.assertEqual([
            'No such moves are known to free capacity for all the servers.',
            'There may be a better plan.', 'Not known: x gives no reason',
            '1 server of an earlier rebalance still to be moved.',
            'An earlier rebalance stopped at 2030-01-01T00:00:00Z: no '
            'capacity'],
            result.err.splitlines())
        self.assertEqual(
            {'goal': ['fit'], 'flavor': ['xl'], 'count': ['3'],
             'max_moves': ['4'], 'move': ['any']}, asked.last_request.qs)
        self.assertEqual([], self.changes())

    def test_no_host_that_can_be_made_empty(self):
        for exact, told in (
                (True, ['No host can be made empty.']),
                (False, ['No moves are known that make a host empty.',
                         'There may be a better plan.'])):
            self.answer_plans({**NONE, 'exact': exact})

            self.assertEqual(told, self.rebalance().err.splitlines())

    def test_what_was_before(self):
        self.answer_plans({
            **NONE, 'fits': True, 'under_way': [
                {'server': base.SERVER_1, 'from': 'a', 'to': 'b', 'step': 1}],
            'stopped': {
                'at': '2030-01-01T00:00:00Z', 'reason': 'no capacity'}})

        result = self.rebalance('--free-hosts')

        self.assertEqual([
            'All the servers fit.',
            '1 server of an earlier rebalance still to be moved.',
            'An earlier rebalance stopped at 2030-01-01T00:00:00Z: no '
            'capacity'],
            result.err.splitlines())

    def test_apply(self):
        self.answer_plans(PLAN)
        begun = self.begun()

        result = self.rebalance('--apply')

        self.assertEqual(0, result.status)
        self.assertEqual({'rebalance': {
            'valid_for': 'abc.def', 'goal': 'free_hosts'}},
            begun.last_request.json())

    def test_end(self):
        self.answer('DELETE', PATH, status_code=204)

        for_people = self.rebalance('--end')
        for_programs = self.rebalance('--end', '-f', 'json')

        for result in (for_people, for_programs):
            self.assertEqual(0, result.status)
            self.assertEqual(
                ['No more servers are moved; those on their way arrive.'],
                result.err.splitlines())
        self.assertEqual([], for_programs.json)
        self.assertEqual([('DELETE', PATH)] * 2, self.changes())

    def test_end_takes_no_goal(self):
        for options in (('--fit', 'xl=1'), ('--free-hosts',),
                        ('--max-moves', '4'), ('--move', 'any')):
            self.assert_one_line(
                f'{options[0]} is for a new plan, and --end makes none',
                self.rebalance('--end', *options))
        self.assertEqual([], self.calls())

    def test_pcloud_that_has_changed(self):
        self.answer_plans(PLAN)
        self.answer('POST', PATH, status_code=409, json={
            'conflictingRequest': {'code': 409, 'message': 'changed'}})

        self.assert_one_line('changed (HTTP 409)',
                             self.rebalance('--apply'))

    def test_wait(self):
        left = [{'server': base.SERVER_2, 'from': 'a', 'to': 'b', 'step': 2}]
        self.answer_plans(PLAN, {**NONE, 'under_way': left * 2},
                          {**NONE, 'under_way': left},
                          {**NONE, 'under_way': left}, NONE)
        self.begun()

        result = self.rebalance('--apply', '--wait')

        self.assertEqual(0, result.status)
        self.assertEqual([
            'Waiting for servers to be moved: 2 left',
            'Waiting for servers to be moved: 1 left'],
            result.err.splitlines()[:2])
        self.assertEqual([rebalance_runs.POLL_INTERVAL] * 3, self.clock.naps)

    def test_rebalance_that_stops(self):
        self.answer_plans(PLAN, {**NONE, 'stopped': {
            'at': '2030-01-01T00:00:00Z', 'reason': 'no capacity'}})
        self.begun()

        self.assert_one_line(
            'The rebalance has stopped before its end: no capacity',
            self.rebalance('--apply', '--wait'))

    def test_wait_needs_apply(self):
        self.assertEqual(1, self.rebalance('--wait').status)
        self.assertEqual(2, self.rebalance(
            '--fit', 'xl=1', '--free-hosts').status)
        self.assertEqual(2, self.rebalance('--fit', 'xl').status)
        self.assertEqual([], self.changes())
