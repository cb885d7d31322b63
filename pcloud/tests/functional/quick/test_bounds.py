# SPDX-License-Identifier: Apache-2.0

"""How much of what is due one request, and one look of a worker, does."""

from pcloud import names
from pcloud.tests.support import base
from pcloud.tests.support import big
from pcloud.tests.support import bulk

HOSTS = [f'bulk-{number:02}' for number in range(12)]


class BoundsTest(big.BigCloud):
    """Twelve hosts in rows, which no compute service has to answer for."""

    def setUp(self):
        super().setUp()
        self.rows.hosts('node-1', HOSTS)
        # The first change makes the journal.
        self.make_pcloud(self.bob)

    def _make(self, made: bulk.Aggregate) -> str:
        """Make a pool or a Pcloud, and return the id."""
        self.rows.aggregates([made])
        return made.id

    def _make_due(self, text: str) -> None:
        """Have something be due for all hosts."""
        self.aggregate(names.JOURNAL).update_metadata(
            {names.DUE_PREFIX + host: text for host in HOSTS})

    def _dues(self) -> list[str]:
        """Return what is due, as written."""
        return [value for key, value in self.aggregate(
            names.JOURNAL).metadata.items()
            if key.startswith(names.DUE_PREFIX)]

    def test_launch_reconciles_ten_hosts_of_the_pcloud(self):
        pcloud = self._make(bulk.pcloud(
            base.ALICE, HOSTS, self.rows.ratios('node-1')))
        self._restart_scheduler()
        self._make_due('mark=000000000000')
        self.assertIn(self.select(self.request(pcloud)), HOSTS)
        self.assertEqual(2, len(self._dues()))
        self.assertIn(self.select(self.request(pcloud)), HOSTS)
        self.assertEqual([], self._dues())

    def test_addition_looks_at_ten_hosts_that_are_not_free(self):
        self.rows.servers(self._server['id'], HOSTS)
        flavor = self._make(bulk.pool('big', HOSTS))
        pcloud = self.make_pcloud(self.alice)
        self._make_due('what no change has written')
        answer = self.alice.call(
            'POST', f'/os-pclouds/{pcloud}/hosts',
            {'host': {'name': 'web', 'host_flavor': flavor}})
        self.assertEqual(409, answer.status_code, answer.text)
        # A host that was looked at settles since then.
        looked_at = [text for text in self._dues() if ' since=' in text]
        self.assertEqual(10, len(looked_at), self._dues())

    def test_look_releases_five_drained_hosts(self):
        pcloud = self._make(bulk.pcloud(
            base.ALICE, HOSTS, self.rows.ratios('node-1')))
        self._make(bulk.pool('big', HOSTS))
        path = f'/os-pclouds/{pcloud}/hosts'
        for host in HOSTS[:6]:
            self.alice.call_json('PUT', f'{path}/{host}', {'host': {
                'state': 'draining', 'drain': {'release': True}}})
        for left in (7, 6):
            self.work()
            self.assertEqual(left, len(self.alice.get_json(path)['hosts']))
