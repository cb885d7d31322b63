# SPDX-License-Identifier: Apache-2.0

"""What a plugin leaves behind, found in what was recorded."""

import collections
import pathlib
import tempfile

import ddt
import testtools

from pcloud.tests.devstack import leftovers

NOVA = 'etc/nova/nova.conf'
BASE = '[filter_scheduler]\nenabled_filters = A,B\n[DEFAULT]\ndebug = True\n'
WITH = BASE.replace('A,B', 'A,B,PcloudFilter') + '[pcloud]\nquota_units = 9\n'


def phase(name, before, after):
    """Return a phase, with the texts of nova.conf."""
    return leftovers.Phase(name, *(
        collections.Counter(leftovers.lines(NOVA, text))
        for text in (before, after)))


@ddt.ddt
class FaultsTest(testtools.TestCase):

    stacked = phase('stack-post-config', BASE, WITH)

    def test_none(self):
        self.assertEqual([], leftovers.faults(
            [self.stacked, phase('clean', WITH, BASE)]))

    def test_order_of_lines_and_comments(self):
        after = ('# nothing\n\n[DEFAULT]\n  debug = True\n'
                 '[filter_scheduler]\nenabled_filters = A,B\n')
        self.assertEqual([], leftovers.faults(
            [self.stacked, phase('clean', WITH, after)]))

    def test_changes_of_others_meanwhile(self):
        more = '[neutron]\nregion = one\n'
        self.assertEqual([], leftovers.faults([
            self.stacked, phase('stack-extra', WITH + more, WITH + more),
            phase('clean', WITH + more, BASE + more)]))

    def test_stacked_twice(self):
        # The second time devstack writes a new nova.conf.
        self.assertEqual([], leftovers.faults(
            [self.stacked, self.stacked, phase('clean', WITH, BASE)]))

    @ddt.data(
        (BASE + '[pcloud]\nquota_units = 9\n',
         ['left: [pcloud]', 'left: [pcloud] quota_units = 9']),
        (BASE + '[pcloud]\n', ['left: [pcloud]']),
        (BASE.replace('A,B', 'A'),
         ['not put back: [filter_scheduler] enabled_filters = A,B',
          'new: [filter_scheduler] enabled_filters = A']),
        (BASE.replace('debug = True\n', ''),
         ['taken from others: [DEFAULT] debug = True']),
        (BASE + 'more = 1\n', ['new: [DEFAULT] more = 1']))
    @ddt.unpack
    def test_one(self, after, expected):
        self.assertEqual(
            expected, [each.replace(f' {NOVA}', '') for each in
                       leftovers.faults([self.stacked,
                                         phase('clean', WITH, after)])])


class RecordsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, record, **files):
        """Write the files of a record."""
        (self.folder / record / 'etc').mkdir(parents=True)
        for name, text in files.items():
            (self.folder / record / 'etc' / name).write_text(text)

    def test_phases(self):
        self.write('000-stack-install-bookend-before', a='[x]\ny = 1\n')
        self.write('001-stack-install-bookend-after', a='[x]\ny = 2\n',
                   b='text\n')
        self.write('002-clean-bookend-before')
        self.write('003-clean-bookend-after')
        (self.folder / '003-clean-bookend-after/etc/link').symlink_to('/b')
        first, last = leftovers.phases(self.folder)
        self.assertEqual(('stack-install', 'clean'), (first.name, last.name))
        self.assertEqual({('etc/a', '[x]', 'y = 2'): 1,
                          ('etc/b', '', 'text'): 1}, first.added)
        self.assertEqual({('etc/a', '[x]', 'y = 1'): 1}, first.removed)
        self.assertEqual({('etc/link', '', '-> /b'): 1}, last.added)

    def test_record_is_missing(self):
        self.write('000-stack-install-bookend-before')
        self.assertRaises(ValueError, leftovers.phases, self.folder)

    def test_records_of_two_phases(self):
        self.write('000-stack-install-bookend-before')
        self.write('001-clean-bookend-after')
        self.assertRaises(ValueError, leftovers.phases, self.folder)
