# SPDX-License-Identifier: Apache-2.0

"""Names of hints that were probably meant for a hint of Pcloud."""

from pcloud.tests.support import shared_cloud

MEMBERS = 'os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints'


class HintNamesTest(shared_cloud.SharedCloudTestCase):

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1')
        self.pcloud = self.make_pcloud(self.alice)

    def _launch(self, expected, members, path='/servers', **more):
        server = self._build_server(flavor_id='1', networks='none')
        answer = self.alice.call(
            'POST', path, {'server': {**server, **more}, **members})
        self.assertEqual(expected, answer.status_code, answer.text)
        return answer.text

    def test_mistaken_names(self):
        volume = {'imageRef': '', 'block_device_mapping_v2': [{
            'boot_index': 0, 'source_type': 'image', 'volume_size': 1,
            'destination_type': 'volume',
            'uuid': self._build_server()['imageRef']}]}
        for member in MEMBERS:
            for more in ({}, volume):
                for name, meant in (
                        ('pcluod', 'pcloud'), ('Pcloud', 'pcloud'),
                        ('pcloud ', 'pcloud'), ('NEAR', 'near')):
                    for version in ('2.1', '2.74', 'latest'):
                        self.alice.microversion = version
                        if version == '2.1':
                            more = {**more, 'networks': []}
                        self.assertIn(f"it has to be '{meant}'", self._launch(
                            400, {member: {name: self.pcloud}}, **more))
        self.assertEqual([], self.admin.get_servers(
            search_opts={'all_tenants': 1}))

    def test_hints_of_others(self):
        # Nova refuses the flavor, after the checks of the hints.
        for name in ('group', 'query', 'clouds', 'different_host', 'Site'):
            self.assertNotIn('[pcloud]', self._launch(
                400, {MEMBERS[0]: {name: 'x'}}, flavorRef='unknown'))
        self.assertIn('[pcloud]', self._launch(
            400, {MEMBERS[0]: {'cloud': 'x'}}, flavorRef='unknown'))
        self.flags(other_hints=['cloud', 'Near'], group='pcloud')
        for name, taken in (('cloud', True), ('Near', True),
                            ('Cloud', False), ('NEAR', False)):
            self.assertEqual(taken, '[pcloud]' not in self._launch(
                400, {MEMBERS[0]: {name: 'x'}}, flavorRef='unknown'))

    def test_a_member_that_nova_does_not_read(self):
        for ignored in ('pcloud', 'Pcloud', 'near'):
            self.assertIn('which Nova ignores', self._launch(400, {
                MEMBERS[0]: {'query': 'x'}, MEMBERS[1]: {ignored: 'x'}}))
        self.assertNotIn('which Nova ignores', self._launch(400, {
            MEMBERS[0]: {'query': 'x'}, MEMBERS[1]: {'query': 'x'}},
            flavorRef='unknown'))
