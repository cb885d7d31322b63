# SPDX-License-Identifier: Apache-2.0

"""Values that somebody has written by hand, each key with every rubbish.

Nova lets an administrator write anything, and what Nova's API refuses a hand
writes into the database. Whatever a value is, every call answers and no
filter dies, nobody gets a host by it, and audit names it.
"""

import itertools

from pcloud.tests.functional.quick import test_values

RUBBISH = ('abc', 'nan', '-1', '', 'a\nforged line', test_values.MISSING)

# Tried by the suite `values`, as it takes long.
MORE_RUBBISH = ('inf', '1e400', '  ', 'x' * 255, '\x00\x7f',
                '[1, {"a": null}]', '٣', '0x10', '9' * 255)


def _rounds():
    """Return all keys, in rounds with at most one of each aggregate.

    So every value is there alone in its aggregate, and a third of the
    rounds is enough.
    """
    of = {}
    for aggregate, key in test_values.KEYS:
        of.setdefault(aggregate, []).append((aggregate, key))
    return [[each for each in several if each] for several
            in itertools.zip_longest(*of.values())]


class ValuesTest(test_values.ValuesTestCase):
    """What is read, with everything that can be written."""

    def test_reads(self):
        self._try(_rounds(), RUBBISH, self._reads)

    def test_reads_of_more(self):
        self._try(_rounds(), MORE_RUBBISH, self._reads)

    def test_changes(self):
        self._try(_rounds(), ['nan', test_values.MISSING], self._changes)
