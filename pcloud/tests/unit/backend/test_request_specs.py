# SPDX-License-Identifier: Apache-2.0

"""Request specs, as Nova keeps them."""

import testtools

from pcloud.backend import request_specs
from pcloud.rules.placing import hints


def _key(**given):
    return request_specs.Kept({'nova_object.data': {
        'project_id': 'p', 'scheduler_hints': given}}).key


class KeyTest(testtools.TestCase):

    def test_hints_tell_servers_apart(self):
        self.assertEqual(_key(group=['g']), _key(group=['g']))
        for other in ({}, {'group': ['h']}, {
                'group': ['g'], hints.DOMAIN_RECORD: ['d1']}):
            self.assertNotEqual(_key(group=['g']), _key(**other))
        self.assertEqual(_key(), request_specs.Kept({
            'nova_object.data': {'project_id': 'p',
                                 'scheduler_hints': None}}).key)
