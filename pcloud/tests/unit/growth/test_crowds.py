# SPDX-License-Identifier: Apache-2.0
"""Crowds of launches."""

from nova import objects
import testtools

from pcloud import exception
from pcloud.growth import crowds

PCLOUD = '2ae1a42c-1b7a-4b9e-8a5c-3c1b3a3b0c7e'


class CrowdTest(testtools.TestCase):

    def test_first_and_others(self):
        first, is_first = crowds.join('kind', 2)
        other, is_other_first = crowds.join('kind', 3)
        self.assertEqual((True, False), (is_first, is_other_first))
        self.assertIs(first, other)
        first.close()
        self.assertEqual(5, first.servers)
        later, is_later_first = crowds.join('kind', 3)
        self.addCleanup(later.close)
        self.assertTrue(is_later_first)
        self.assertIsNot(first, later)

    def test_only_the_first_decision_counts(self):
        crowd, _ = crowds.join('kind', 1)
        crowds.join('kind', 1)
        crowd.close()
        for decision in crowds.Decision.APART, crowds.Decision.HAS_GROWN:
            crowd.decide(decision)
        with crowd.decision() as found:
            self.assertIs(crowds.Decision.APART, found)
        # The other has gone on.
        crowd.wait_until_placed()

    def test_what_the_first_meets(self):
        crowd, _ = crowds.join('kind', 1)
        crowds.join('kind', 1)
        with testtools.ExpectedException(exception.Unavailable):
            with crowd.led():
                raise exception.Unavailable()
        with testtools.ExpectedException(exception.Unavailable):
            with crowd.decision():
                self.fail('acted on no decision')
        crowd.wait_until_placed()
        self.assertEqual({}, crowds._GATHERING)


class KindTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()

    def spec(self, **fields):
        return objects.RequestSpec(**{
            'instance_uuid': PCLOUD, 'num_instances': 1, 'project_id': 'p',
            'flavor': objects.Flavor(memory_mb=512),
            'scheduler_hints': {'pcloud': [PCLOUD]},
            'instance_group': None, **fields})

    def test_what_tells_requests_from_each_other(self):
        like = crowds.kind(self.spec())
        self.assertEqual(like, crowds.kind(self.spec(
            instance_uuid='another', id=7)))
        for other in (
                {'project_id': 'q'}, {'num_instances': 2},
                {'flavor': objects.Flavor(memory_mb=513)},
                {'scheduler_hints': {'pcloud': ['x']}},
                {'availability_zone': 'az1'}):
            self.assertNotEqual(like, crowds.kind(self.spec(**other)), other)

    def test_servers_of_a_group(self):
        spec = self.spec(instance_group=objects.InstanceGroup(name='g'))
        self.assertNotEqual(crowds.kind(spec), crowds.kind(spec))
