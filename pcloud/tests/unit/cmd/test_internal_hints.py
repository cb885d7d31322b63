# SPDX-License-Identifier: Apache-2.0

"""Nova's code before and after the fix of OSSA-2026-022."""

from nova.compute import api as compute_api
from oslotest import base

from pcloud.cmd import internal_hints


class _Nova:
    """What Nova does with the hints of a request, and no more."""

    def create(self, context, flavor, image, scheduler_hints=None):
        return self._create_instance(
            context, flavor, image,
            filter_properties={'scheduler_hints': self._kept(scheduler_hints)})

    def _create_instance(self, *args, **kwargs):
        raise AssertionError('A server would be created.')


class _Unfixed(_Nova):

    def _kept(self, hints):
        return hints


class _Fixed(_Nova):

    def _kept(self, hints):
        return {key: value for key, value in hints.items()
                if not key.startswith('_nova')}


class _WithoutHints(_Nova):

    def _kept(self, hints):
        return None


class InternalHintsTest(base.BaseTestCase):

    def test_before_the_fix(self):
        self.assertTrue(internal_hints.reach_scheduler(_Unfixed))

    def test_after_the_fix(self):
        for fixed in (_Fixed, _WithoutHints, compute_api.API):
            self.assertFalse(internal_hints.reach_scheduler(fixed), fixed)
