# SPDX-License-Identifier: Apache-2.0

"""How servers fill a Pcloud's hosts."""

from pcloud.tests.functional.quick import test_house_rules


class PlacementTest(test_house_rules.RulesTestCase):
    """How servers fill the hosts, by the multipliers that Nova reads."""

    def _hosts_of_new(self, count=3):
        names = []
        for _ in range(count):
            names.append(self.name_of(self.start()))
            self._run_periodics()
        return names

    def test_pack(self):
        self.set_rules(placement='pack')
        self.assertEqual(1, len(set(self._hosts_of_new())))

    def test_spread(self):
        self.set_rules(placement='spread')
        self.assertEqual(3, len(set(self._hosts_of_new())))

    def test_later_hosts_too(self):
        """The multipliers are the Pcloud's, and not those of its hosts."""
        self.put('c', 'disabled')
        self.assertEqual(204, self.alice.call(
            'DELETE', f'{self.path}/c').status_code)
        self.set_rules(placement='pack')
        first = self._hosts_of_new(1)
        self.wait_until(lambda: self.real.update(c=self.add_host(
            self.alice, self.pcloud, 'c', 'gpu')))
        self.assertEqual(set(first), set(self._hosts_of_new(2)))

    def test_shown(self):
        multipliers = ('ram_weight_multiplier', 'cpu_weight_multiplier',
                       'disk_weight_multiplier')
        self.assertNotIn('placement', self.shown())
        for placement, value in (('pack', '-1.0'), ('spread', '1.0'),
                                 ('default', None)):
            changed = self.set_rules(placement=placement)
            self.assertEqual(placement, changed['placement'])
            self.assertEqual(changed, self.shown())
            self.assertEqual([changed], self.alice.get_json(
                '/os-pclouds')['pclouds'])
            self.assertEqual({value}, {
                self.metadata().get(name) for name in multipliers})
            self.assertEqual([], self.kinds())
        for wrong in (None, 'stack', 1):
            self.set_rules(400, placement=wrong)
