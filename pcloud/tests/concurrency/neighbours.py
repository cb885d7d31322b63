# SPDX-License-Identifier: Apache-2.0

"""Fakes of Glance and Neutron from Nova's own tests, in this process."""

import fixtures
import nova.conf
from nova.tests import fixtures as nova_fixtures

CONF = nova.conf.CONF


class Networks(fixtures.Fixture):
    """Answers Nova's calls of Neutron for servers without ports."""

    def _setUp(self):
        self.useFixture(nova_fixtures.NeutronFixture(self))

    def stub_out(self, old: str, new: object) -> None:
        """Replace an attribute."""
        self.useFixture(fixtures.MonkeyPatch(old, new))

    def flags(self, group: str | None = None, **options: object) -> None:
        """Set options."""
        for name, value in options.items():
            CONF.set_override(name, value, group)


class Neighbours(Networks):
    """Answers Nova's calls of Glance, too."""

    def _setUp(self):
        super()._setUp()
        self.useFixture(nova_fixtures.GlanceFixture(self))
