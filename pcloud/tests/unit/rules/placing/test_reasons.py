# SPDX-License-Identifier: Apache-2.0

"""Why hosts are not right."""

from oslotest import base

from pcloud.rules.placing import reasons


class ReasonTest(base.BaseTestCase):

    def test_a_text_that_is_open_to_all(self):
        self.assertEqual(reasons.Reason('a', 'a'), reasons.open_to_all('a'))
        self.assertEqual(reasons.Reason('a', 'a', 'b'),
                         reasons.open_to_all('a', 'b'))
        self.assertEqual('', reasons.open_to_all('a').detail)


class OfStagesTest(base.BaseTestCase):

    def _stages(self):
        for text, kept in (('a', [2, 3, 4]), ('b', [3]), ('c', [])):
            yield (lambda host, text=text: reasons.open_to_all(
                text, str(host))), kept
        self.fail('nobody was left')

    def test_each_has_the_reason_of_the_stage_where_it_fell(self):
        found = reasons.of_stages([1, 2, 3, 4, 1], self._stages())
        self.assertEqual(['a', 'b', 'c', 'b', 'a'],
                         [each.text for each in found])
        self.assertEqual(['1', '2', '3', '4', '1'],
                         [each.detail for each in found])

    def test_those_that_are_left(self):
        found = reasons.of_stages([1, 2], [(reasons.open_to_all, [2]),
                                           (reasons.open_to_all, [2])])
        self.assertIsNone(found[1])
        self.assertEqual([None], reasons.of_stages([1], []))
        self.assertEqual([], reasons.of_stages([], []))
