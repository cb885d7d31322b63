# SPDX-License-Identifier: Apache-2.0

"""What is kept with a request stays with that very request."""

import copy

import ddt
from nova import objects
import testtools

from pcloud.scheduler import memo


def _cloned(spec):
    return spec.obj_clone()


def _sent(spec):
    return objects.RequestSpec.obj_from_primitive(spec.obj_to_primitive())


@ddt.ddt
class MemoTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()
        self.spec = objects.RequestSpec(
            scheduler_hints={}, num_instances=2, project_id='alice')
        memo.of_request(self.spec).levels = {'F': {'h1': 1}}

    def test_the_same_whoever_asks(self):
        self.assertIs(memo.of_request(self.spec), memo.of_request(self.spec))
        # Nova names each server of a multi-create in the same request.
        self.spec.instance_uuid = 'b0b'
        self.assertEqual({'F': {'h1': 1}}, memo.of_request(self.spec).levels)

    def test_empty_for_another_request(self):
        self.assertEqual(memo.Memo(), memo.of_request(objects.RequestSpec()))

    @ddt.data(_cloned, copy.deepcopy, _sent)
    def test_not_copied(self, copied):
        found = copied(self.spec)
        self.assertEqual('alice', found.project_id)
        self.assertEqual(memo.Memo(), memo.of_request(found))
        self.assertEqual({'F': {'h1': 1}}, memo.of_request(self.spec).levels)

    def test_no_part_of_what_is_sent(self):
        self.assertEqual(
            objects.RequestSpec(scheduler_hints={}, num_instances=2,
                                project_id='alice').obj_to_primitive(),
            self.spec.obj_to_primitive())


class CompiledKeysTest(testtools.TestCase):

    def test_false_without_a_key(self):
        self.assertFalse(memo.CompiledKeys({}, {}))
        self.assertTrue(memo.CompiledKeys({'a': None}, {}))
        self.assertTrue(memo.CompiledKeys({}, {'a': None}))
