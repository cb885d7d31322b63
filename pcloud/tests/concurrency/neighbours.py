# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
