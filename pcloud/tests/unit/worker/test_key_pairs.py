# SPDX-License-Identifier: Apache-2.0

"""A worker has a copy of a key pair while it starts a server."""

from oslotest import base

from pcloud.backend.cells import started_servers
from pcloud.client import exceptions
from pcloud.worker import key_pairs

PAIR = started_servers.KeyPair('mine', 'ssh-rsa AAAA')
# By the kind and the key.
OTHER_NAME = 'mine-3c04a0a6'


class Nova:
    """The key pairs of one user."""

    def __init__(self, **pairs):
        self.pairs = pairs

    def import_key_pair(self, name, kind, public_key):
        """Answer as Nova does."""
        if name in self.pairs:
            raise exceptions.Conflict('there is one')
        self.pairs[name] = public_key

    def public_key(self, name):
        """Answer as Nova does."""
        return self.pairs[name]

    def delete_key_pair(self, name):
        """Answer as Nova does."""
        if name not in self.pairs:
            raise exceptions.NotFound('there is none')
        del self.pairs[name]


class LentTest(base.BaseTestCase):

    def _assert_lent(self, expected, **pairs):
        """Assert which name a key pair has, and that what was there stays."""
        nova = Nova(**pairs)
        with key_pairs.lent(nova, PAIR) as name:
            self.assertEqual(
                {**pairs, name: PAIR.public_key}, nova.pairs)
        self.assertEqual(expected, name)
        self.assertEqual(pairs, nova.pairs)

    def test_no_key_pair(self):
        nova = Nova()
        with key_pairs.lent(nova, None) as name:
            self.assertEqual(('', {}), (name, nova.pairs))

    def test_the_same_name(self):
        self._assert_lent('mine', yours='ssh-rsa BBBB')

    def test_another_look_has_it(self):
        self._assert_lent('mine', mine=PAIR.public_key)

    def test_a_name_that_is_taken(self):
        self._assert_lent(OTHER_NAME, mine='ssh-rsa BBBB')
        self._assert_lent(OTHER_NAME, mine='ssh-rsa BBBB',
                          **{OTHER_NAME: PAIR.public_key})

    def test_both_names_are_taken(self):
        with self.assertRaisesRegex(exceptions.Conflict, OTHER_NAME):
            self._assert_lent('', mine='B', **{OTHER_NAME: 'C'})

    def test_a_start_that_fails(self):
        nova = Nova()
        with self.assertRaises(exceptions.Forbidden):
            with key_pairs.lent(nova, PAIR):
                raise exceptions.Forbidden('over quota')
        self.assertEqual({}, nova.pairs)

    def test_a_copy_that_another_look_has_deleted(self):
        nova = Nova()
        with key_pairs.lent(nova, PAIR):
            nova.pairs.clear()
        self.assertEqual({}, nova.pairs)
