# SPDX-License-Identifier: Apache-2.0

"""How the hosts of a Pcloud are filled."""

import ddt
from nova.scheduler import weights
import testtools

from pcloud.rules.placing import filling


@ddt.ddt
class FillingTest(testtools.TestCase):

    @ddt.data(('default', None), ('pack', '-1.0'), ('spread', '1.0'))
    @ddt.unpack
    def test_multipliers(self, choice, value):
        found = filling.multipliers(choice)
        self.assertEqual({value}, set(found.values()))
        self.assertEqual(filling.KEYS, tuple(found))

    def test_nova_reads_the_keys(self):
        multipliers = {f'{module}_weight_multiplier' for module in (
            'ram', 'cpu', 'disk')}
        self.assertEqual(multipliers, set(filling.KEYS))
        names = {each.__name__ for each in weights.all_weighers()}
        self.assertLessEqual({'RAMWeigher', 'CPUWeigher', 'DiskWeigher'},
                             names)

    def test_known(self):
        for text, choice in (('pack', 'pack'), ('default', 'default'),
                             ('Pack', None), ('', None), (None, None)):
            self.assertEqual(choice, filling.known(text))
