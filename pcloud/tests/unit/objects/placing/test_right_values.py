# SPDX-License-Identifier: Apache-2.0

"""What each value has to be."""

import ddt
import testtools

from pcloud import exception
from pcloud.objects.placing import right_values

ID = '7f3c8a52-4a0e-4c35-9d6e-5b1f2c7e8a90'
STAMP = '20261127T180543Z'
MOVE = (f'plan=0123abcd step=1 since={STAMP} move=live source={ID} '
        f'target={ID}')


@ddt.ddt
class ValuesTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data(
        ('pcloud:type', 'pcloud'), ('pcloud:type', 'journal'),
        ('pcloud:id', ID), ('pcloud:name', 'render farm'),
        ('pcloud:owner', 'a' * 32), ('pcloud:description', ''),
        ('pcloud:flavor_id', 'gpu.1'), ('pcloud:units', '3'),
        ('pcloud:quota:units', '-1'), ('pcloud:scope', 'role'),
        ('pcloud:host_state:node', 'disabled'),
        ('pcloud:own_ratios:node', 'cpu=16 ram=1.5'),
        ('pcloud:own_ratios:node', 'ram=0'),
        ('pcloud:due:node', f'mark=0123456789ab since={STAMP}'),
        ('pcloud:drain:node', f'since={STAMP} move=live'),
        ('pcloud:maintained:host', f'begin={STAMP}'),
        ('pcloud:replaces:host', 'host=other'),
        (f'pcloud:rebalance:{ID}:{ID}', MOVE),
        ('pcloud:stopped:rebalance', f'at={STAMP} code=host_left'),
        ('pcloud:maintenance:host', f'begin={STAMP} why=new fans'),
        (f'pcloud:moving:{ID}', f'token=0123abcd until={STAMP}'),
        ('pcloud:growth:turn', f'token=0123abcd until={STAMP}'),
        ('pcloud:strict:project', f'token=0123abcd until={STAMP}'),
        ('pcloud:released:host', 'units=2 project=p'),
        ('pcloud:worker', f'at={STAMP}'),
        ('pcloud:changes:x', '0123456789ab 0123456789ac'),
        ('pcloud:constraint:ram', '2G'), ('pcloud:key:A', '-1.5'),
        ('pcloud:sticky:A', '0'), ('pcloud:customer_key:A', '1:0'),
        ('pcloud:sticky:A', '2'), ('pcloud:system_key:special.RAM', '0:1'),
        ('pcloud:attr:rack', 'r 1'), (f'pcloud:{"a" * 32}', 'pcloud-tenant'),
        ('pcloud:later:key', 'anything'), ('cpu_allocation_ratio', 'abc'),
        ('ssd', 'true'))
    def test_right(self, key, value):
        right_values.check_metadata(key, value)

    @ddt.unpack
    @ddt.data(
        ('pcloud:type', 'Pcloud'), ('pcloud:id', ID.upper()),
        ('pcloud:name', ' '), ('pcloud:owner', ''),
        ('pcloud:description', 'a\nb'), ('pcloud:flavor_id', 'a/b'),
        ('pcloud:units', '1.5'), ('pcloud:quota:units', '-2'),
        ('pcloud:scope', 'all'), ('pcloud:host_state:node', 'Enabled'),
        ('pcloud:flavor_id', '.'), ('pcloud:flavor_id', '..'),
        ('pcloud:own_ratios:node', ''), ('pcloud:own_ratios:node', '16.0'),
        ('pcloud:own_ratios:node', 'cpu=nan'),
        ('pcloud:own_ratios:node', 'cpu=16 disk=1'),
        ('pcloud:own_ratios:node', 'cpu=16  ram=1.5'),
        ('pcloud:own_ratios:node', 'cpu=16 cpu=16'),
        ('pcloud:own_ratios:', 'cpu=16'),
        ('pcloud:due:node', f'since={STAMP}'),
        ('pcloud:drain:node', 'x'), ('pcloud:maintained:host', 'x'),
        ('pcloud:replaces:host', 'other'), (f'pcloud:rebalance:{ID}', MOVE),
        (f'pcloud:rebalance:{ID}:web', MOVE),
        (f'pcloud:rebalance:{ID}:{ID}', 'x'),
        ('pcloud:stopped:rebalance', 'x'),
        ('pcloud:maintenance:host', 'x'), (f'pcloud:moving:{ID}', 'x'),
        ('pcloud:growth:turn', 'x'), ('pcloud:strict:project', 'x'),
        ('pcloud:released:host', '2 p'), ('pcloud:worker', '1764254000'),
        ('pcloud:changes:x', ' '), ('pcloud:constraint:ram', '2X'),
        ('pcloud:constraint:ram', '2G\n'),
        ('pcloud:constraint:cpu', '1\nram=1'),
        ('pcloud:constraint:ram', '2G\u00a0'),
        ('pcloud:constraint:', 'x'), ('pcloud:key:A', 'nan'),
        ('pcloud:key:special.RAM', '1'), ('pcloud:sticky:A', ''),
        ('pcloud:system_key:_A', '1:1'), ('pcloud:attr:hardware_class', 'x'),
        (f'pcloud:{"a" * 32}', 'true'))
    def test_wrong(self, key, value):
        self.assertRaises(
            exception.Invalid, right_values.check_metadata, key, value)

    def test_ratio(self):
        right_values.check_ratio('cpu_allocation_ratio', '4')
        right_values.check_ratio('disk_allocation_ratio', 'abc')
        self.assertRaisesRegex(
            exception.InvalidValue, 'Allocation ratio: ',
            right_values.check_ratio,
            'ram_allocation_ratio', 'abc')

    @ddt.unpack
    @ddt.data((f'Pcloud:{ID}', {}, True), ('any', {}, False),
              ('any', {'pcloud:type': 'pcloud'}, True),
              ('Pcloud:host_flavor:gpu', {}, False),
              ('Pcloud:policy:cloud:default', {}, False),
              (f'Pcloud:{ID}', {'pcloud:type': 'policy'}, False))
    def test_whose_ratios(self, name, metadata, is_ours):
        self.assertIs(is_ours, right_values.is_ratio_of_pcloud(name, metadata))

    def test_extra_specs(self):
        right_values.check_extra_spec('pcloud:co_located', 'always')
        right_values.check_extra_spec('pcloud:customer_key:A', '1:1')
        right_values.check_extra_spec('pcloud:co_located_more', 'x')
        for key, value in (('pcloud:co_located', 'x'),
                           ('pcloud:system_key:A', '1')):
            self.assertRaises(exception.Invalid, right_values.check_extra_spec,
                              key, value)

    def test_image_properties(self):
        right_values.check_image_property('pcloud_co_located', 'always')
        right_values.check_image_property('pcloud_customer_key_A', '1:1')
        right_values.check_image_property('pcloud_system_key_A', '1:0')
        right_values.check_image_property('pcloud_consumes', 'x')
        for key, value in (('pcloud_co_located', 'Always'),
                           ('pcloud_co_located', ''),
                           ('pcloud_customer_key_A', '1'),
                           ('pcloud_system_key_A', '1:')):
            self.assertRaises(
                exception.Invalid, right_values.check_image_property,
                key, value)
